"""Fixtures of several files of tests."""

from __future__ import annotations

import pytest


@pytest.fixture
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for tests that repeat everything hundreds of times."""
    monkeypatch.setattr("hreach.statistics.RESAMPLES", 1000)
