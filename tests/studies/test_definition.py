"""A study under a name that is taken: more of it goes on, anything else is refused with its difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers import content
from hreach import InputError
from hreach.studies.definition import SAME, check_definition, differences
from hreach.studies.finish import begin
from hreach.studies.record import read_record
from hreach.studies.spec import AgentSpec, Claim, Study
from hreach.studies.store import Store

ROW = AgentSpec(agent="pac-rmdp", params={"h": 8}, algorithm="A", variant="v")
STUDY = Study(title="T", domain="chain", steps=40, runs=4, seed=5, agent=[ROW, AgentSpec(agent="greedy")])


def changed(**fields: Any) -> Study:
    return STUDY.model_copy(update=fields)


def row(**fields: Any) -> Study:
    return changed(agent=[ROW.model_copy(update=fields), STUDY.agent[1]])


CLAIM = Claim(text="x", kind="at least", statistic="goals", algorithm="A", than=1)
SAME_STUDY = [
    changed(runs=9),
    changed(title="U", text="more", citation="me"),
    changed(claim=[CLAIM]),
    changed(agent=[AgentSpec(agent="bolt"), *STUDY.agent[::-1]]),
    row(note="new"),
    changed(scale="log", until="ranked", bounds=[0.0, 1.0]),
]
OTHER = [
    (changed(domain="modified-chain"), 'domain was "chain", is "modified-chain"'),
    (changed(domain_params={"length": 4}), 'domain_params was {}, is {"length": 4}'),
    (changed(steps=41), "steps was 40, is 41"),
    (changed(steps=None, episodes=3), "steps was 40, is null; episodes was null, is 3"),
    (changed(final_episodes=1), "final_episodes was 0, is 1"),
    (changed(seed=6), "seed was 5, is 6"),
    (changed(settings={"gamma": 0.9}), 'settings was {}, is {"gamma": 0.9}'),
    (changed(plugins=["json"]), 'plugins was [], is ["json"]'),
    (changed(marks=7), "marks was 100, is 7"),
    (row(params={"h": 9}), 'params of \'A, v\' was {"h": 8}, is {"h": 9}'),
    (row(agent="bolt"), 'agent of \'A, v\' was "pac-rmdp", is "bolt"'),
    (row(algorithm="B"), "the row 'A, v' is gone"),
    (row(variant="w"), "the row 'A, v' is gone"),
    (changed(agent=[ROW]), "the row 'greedy' is gone"),
]


@pytest.mark.parametrize("study", SAME_STUDY)
def test_more_of_a_study_and_other_words_are_the_same_study(study: Study, tmp_path: Path) -> None:
    begin("s", STUDY, Store(tmp_path))
    assert list(differences(STUDY, study)) == []
    begin("s", study, Store(tmp_path))
    assert read_record(tmp_path, "s").study == study


@pytest.mark.parametrize(("study", "difference"), OTHER)
def test_anything_else_is_refused_with_its_difference_and_nothing_changes(
    study: Study, difference: str, tmp_path: Path
) -> None:
    begin("s", STUDY, Store(tmp_path))
    before = content(tmp_path)
    with pytest.raises(InputError) as refused:
        begin("s", study, Store(tmp_path))
    said = "study 's' was begun in this folder with another definition: "
    assert str(refused.value).startswith(f"{said}{difference}. Take another folder or file name, or --replace")
    assert content(tmp_path) == before


def test_every_field_that_decides_is_among_those_cases() -> None:
    told = " ".join(difference for _, difference in OTHER)
    assert [key for key in SAME if f"{key} was " not in told] == []


def test_another_name_or_a_wish_to_replace_goes_on(tmp_path: Path) -> None:
    begin("s", STUDY, Store(tmp_path))
    begin("t", changed(seed=6), Store(tmp_path))
    begin("s", changed(seed=7), Store(tmp_path), replace=True)
    assert [read_record(tmp_path, name).study.seed for name in "st"] == [7, 6]


def test_many_and_long_differences_are_cut() -> None:
    other = changed(domain="x" * 500, steps=1, seed=1, marks=1, plugins=["a"], final_episodes=2, settings={"a": 1})
    with pytest.raises(InputError, match=r"\.\.\.;.*; and 2 more\. Take another folder") as refused:
        check_definition("s", STUDY, other)
    assert len(str(refused.value)) < 600
