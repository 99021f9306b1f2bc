"""The command line: one file for each group of commands."""

from __future__ import annotations


def main() -> None:
    """The command `hreach`."""
    from hreach.cli.app import main as run

    run()
