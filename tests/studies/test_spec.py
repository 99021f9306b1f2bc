"""Studies as TOML: what is right loads, what is wrong is one sentence with file, line, field, value and remedy."""

from __future__ import annotations

import csv
import io
from importlib import resources
from pathlib import Path

import pytest

from hreach import InputError
from hreach.studies import catalog
from hreach.studies.loading import load, load_catalog
from hreach.studies.spec import AgentSpec

VALID = '''\
# A comment is no key: runs = 1
title = "A study"
domain = "chain"
domain_params = { length = 7 }
text = """
Two lines
of text.
"""
steps = 300
runs = 20
seed = 4

[settings]
gamma = 0.9

[[agent]]
agent = "pac-rmdp"
params = { h = 8 }
algorithm = "PAC-RMDP(8)"
variant = "mine"

[[agent]]
agent = "greedy"

[[agent]]
agent = "bolt"
params = { eta = 5, prior = 2 }
note = "third"
'''
SHORT = 'title = "T"\ndomain = "chain"\nsteps = 5\nruns = 2\nseed = 1\n'


def changed(old: str, new: str) -> str:
    """The valid study with one thing wrong."""
    assert VALID.count(old) == 1
    return VALID.replace(old, new)


def line_of(text: str, part: str) -> int:
    """The only line of the text that holds `part`, counted from 1."""
    found = [number for number, line in enumerate(text.split("\n"), start=1) if part in line]
    assert len(found) == 1
    return found[0]


def refusal(folder: Path, text: str) -> str:
    """What is said about a study that cannot be used: always one line that ends as a sentence."""
    path = folder / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


def printed_labels(name: str) -> list[str]:
    text = (resources.files("hreach.studies") / "printed" / f"{name}.csv").read_text("utf-8")
    return [row["algorithm"] for row in csv.DictReader(io.StringIO(text))]


def test_a_valid_study_loads_with_everything_in_it(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(VALID, encoding="utf-8")
    study = load(path)
    assert (study.title, study.domain, study.domain_params) == ("A study", "chain", {"length": 7})
    assert (study.steps, study.runs, study.seed, study.settings) == (300, 20, 4, {"gamma": 0.9})
    assert study.text == "Two lines\nof text.\n"
    assert study.printed is None
    assert [spec.agent for spec in study.agent] == ["pac-rmdp", "greedy", "bolt"]
    assert study.agent[0] == AgentSpec(
        agent="pac-rmdp", params={"h": 8}, algorithm="PAC-RMDP(8)", variant="mine", note=""
    )
    assert study.agent[2].params == {"eta": 5, "prior": 2}
    assert study.agent[2].note == "third"


def test_a_row_without_a_name_is_called_by_its_agent_and_parameters(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(VALID, encoding="utf-8")
    assert [spec.label for spec in load(path).agent] == ["PAC-RMDP(8)", "greedy", "bolt(eta=5, prior=2)"]


def test_the_catalog_has_the_studies_of_the_paper() -> None:
    assert {"chain", "modified-chain", "mountain-car"} <= set(catalog.texts())


@pytest.mark.parametrize("name", ["chain", "modified-chain"])
def test_a_catalog_study_has_the_papers_eleven_algorithms_and_two_of_ours_in_two_variants(name: str) -> None:
    study = load_catalog(name)
    assert len(printed_labels(name)) == 11
    assert list(study.variants) == ["as printed", "as defined"]
    for rows in study.variants.values():
        ours = [spec for spec in rows if spec.label not in printed_labels(name)]
        assert [spec.label for spec in rows if spec not in ours] == printed_labels(name)
        assert [spec.label for spec in ours] == ["PAC-RMDP(growing)", "PAC-RMDP(adaptive)"]
        assert all(spec.note.startswith("ours, not in the paper") for spec in ours)
        beside = next(spec for spec in rows if spec.label == "PAC-RMDP(8)")
        assert [{**spec.params, "h": 8} for spec in ours] == [beside.params] * 2


@pytest.mark.parametrize("name", ["chain", "modified-chain"])
def test_a_catalog_study_has_the_size_of_the_paper_and_its_own_printed_numbers(name: str) -> None:
    study = load_catalog(name)
    assert (study.domain, study.printed) == (name, f"{name}.csv")
    assert (study.steps, study.runs, study.settings["gamma"]) == (3000, 1000, 0.95)


def test_an_unknown_catalog_name_suggests_the_nearest() -> None:
    with pytest.raises(
        InputError, match=r"'modified-chian'.*did you mean 'modified-chain'\?.*known: chain, .*modified"
    ):
        load_catalog("modified-chian")


WRONG = [
    # what stands in the valid study, what stands there instead, what the sentence must contain
    (
        "seed = 4",
        "seed = 4\ntxet = 1",
        ["'txet'", "did you mean 'text'?", "known: agent, bounds, citation, claim, domain"],
    ),
    ("runs = 20", "rnus = 20", ["'rnus'", "did you mean 'runs'?", "known: agent, bounds, citation, claim, domain"]),
    ("runs = 20", 'runs = "many"', ["runs is 'many'", "integer"]),
    ("runs = 20", "runs = 0", ["runs is 0", "greater than or equal to 1"]),
    ("runs = 20", "runs = 2.5", ["runs is 2.5", "integer"]),
    ("runs = 20", "runs = true", ["runs is True", "integer"]),
    ("steps = 300", "steps = -3", ["steps is -3", "greater than or equal to 1"]),
    ("seed = 4", "seed = -1", ["seed is -1", "greater than or equal to 0"]),
    ("steps = 300", "steps = 1_000_000_000_000", ["steps is 1000000000000", "less than or equal to 100000000"]),
    ("runs = 20", "runs = 1_000_000_000_000", ["runs is 1000000000000", "less than or equal to 1000000"]),
    ("gamma = 0.9", '"(" = 0.9', ["parameter of agent 'pac-rmdp' is '('", "which is not known"]),
    ('agent = "bolt"', 'agent = "BOLT"', ["'BOLT'", "did you mean 'bolt'?", "known: beb, bolt"]),
    ('title = "A study"', "title = 5", ["title is 5", "string"]),
    ("gamma = 0.9", "gamma = 1.5", ["gamma is 1.5", "below 1"]),
    ("gamma = 0.9", "gama = 0.9", ["'gama'", "did you mean 'gamma'?"]),
    ('note = "third"', 'nota = "third"', ["agent[2]", "'nota'", "did you mean 'note'?", "known: agent, algorithm"]),
    ('agent = "bolt"', 'agnet = "bolt"', ["agent[2]", "'agnet'", "did you mean 'agent'?"]),
    ('note = "third"', "note = 3", ["agent[2].note is 3", "string"]),
    ('agent = "bolt"', 'agent = "blot"', ["'blot'", "did you mean 'bolt'?", "known: beb, bolt"]),
    ("{ eta = 5, prior = 2 }", "{ eat = 5 }", ["'bolt'", "'eat'", "did you mean 'eta'?"]),
    ("{ eta = 5, prior = 2 }", "{ eta = 5, prior = -2 }", ["prior is -2", "at least 0"]),
    ("{ eta = 5, prior = 2 }", "{ eta = 5, ties = 3 }", ["ties is 3", "every action from 0 to 1"]),
    ("{ eta = 5, prior = 2 }", "{ eta = 5, seed = 3 }", ["'seed'"]),
    ("{ eta = 5, prior = 2 }", "77", ["agent[2].params is 77", "dictionary"]),
    ("{ h = 8 }", "{ prior = 2, tolerance = 0.1 }", ["'pac-rmdp'", "'h'"]),
    ("{ h = 8 }", "{ h = -1 }", ["h is -1"]),
    ("{ h = 8 }", '{ h = "x" }', ["h is 'x'", "number"]),
    ('domain = "chain"', 'domain = "chian"', ["'chian'", "did you mean 'chain'?", "known: chain, "]),
    ('domain = "chain"', 'domain = "FrozenLake-v9"', ["'FrozenLake-v9'", "did you mean 'FrozenLake-v1'?"]),
    ('domain = "chain"', 'domain = "math:pi"', ["domain is 'math:pi'", "something to call", "3.14"]),
    ('domain = "chain"', 'domain = "no.such:Thing"', ["domain is 'no.such:Thing'", "No module named 'no'"]),
    ('agent = "bolt"', 'agent = "math:sqrt3"', ["agent is 'math:sqrt3'", "has no 'sqrt3' (did you mean 'sqrt'?)"]),
    ('agent = "bolt"', 'agent = "math:e"', ["agent is 'math:e'", "something to call"]),
    ("seed = 4", 'seed = 4\nplugins = ["no.such"]', ["plugins is 'no.such'", "No module named 'no'"]),
    ("seed = 4", "seed = 4\nplugins = [3]", ["plugins[0] is 3", "string"]),
    ("{ length = 7 }", "{ lenght = 7 }", ["'chain'", "'lenght'", "did you mean 'length'?"]),
    ("{ length = 7 }", "{ length = 1 }", ["length is 1", "at least 2"]),
    ("{ length = 7 }", '{ slip = "often" }', ["slip is 'often'", "number"]),
]


@pytest.mark.parametrize(("old", "new", "words"), WRONG)
def test_a_mistake_is_named_with_its_file_and_line(old: str, new: str, words: list[str], tmp_path: Path) -> None:
    text = changed(old, new)
    message = refusal(tmp_path, text)
    assert message.startswith(f"wrong.toml, line {line_of(text, new.splitlines()[-1])}: ")
    assert [word for word in words if word not in message] == []


def test_a_key_that_a_text_mentions_is_not_taken_for_the_key(tmp_path: Path) -> None:
    text = changed("of text.", "runs = 17").replace("runs = 20", "runs = 0")
    assert refusal(tmp_path, text).startswith(f"wrong.toml, line {line_of(text, 'runs = 0')}: runs is 0")


def test_printed_numbers_that_do_not_exist_are_refused_before_the_first_run(tmp_path: Path) -> None:
    text = changed("seed = 4", 'seed = 4\nprinted = "chian.csv"')
    message = refusal(tmp_path, text)
    assert message.startswith(f"wrong.toml, line {line_of(text, 'chian')}: ")
    assert "'chian.csv'" in message


@pytest.mark.parametrize("key", ["title", "domain", "steps", "runs", "seed"])
def test_a_missing_key_is_named(key: str, tmp_path: Path) -> None:
    lines = [line for line in VALID.splitlines(keepends=True) if not line.startswith(f"{key} = ")]
    instead = " (or episodes)" if key == "steps" else ""
    assert refusal(tmp_path, "".join(lines)) == f"wrong.toml: {key} is missing, but must be given{instead}."


def test_a_row_without_an_agent_is_shown_by_the_line_where_it_begins(tmp_path: Path) -> None:
    text = changed('agent = "bolt"\n', "")
    begins = line_of(text, "params = { eta") - 1
    assert refusal(tmp_path, text) == f"wrong.toml, line {begins}: agent[2].agent is missing, but must be given."


def test_a_study_without_agents_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, SHORT) == "wrong.toml: agent is missing, but must be given."


def test_a_study_with_an_empty_list_of_agents_is_refused_in_a_proper_sentence(tmp_path: Path) -> None:
    message = refusal(tmp_path, SHORT + "agent = []\n")
    assert message.startswith("wrong.toml, line 6: agent is [], but must ")
    assert "at least 1 item" in message
    assert "must be it" not in message


def test_one_agent_table_where_a_list_is_needed_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, SHORT + '\n[agent]\nagent = "greedy"\n')
    assert message.startswith("wrong.toml, line 7: agent is {'agent': 'greedy'}, but must be a valid list")


@pytest.mark.parametrize("broken", ["runs 20", 'runs = "', "runs = 20 21", "[runs", "runs = 1\nruns = 2"])
def test_broken_toml_is_shown_by_its_line(broken: str, tmp_path: Path) -> None:
    text = changed("runs = 20", broken)
    message = refusal(tmp_path, text)
    assert message.startswith("wrong.toml: ")
    assert f"line {line_of(text, broken.splitlines()[-1])}, column" in message


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes(VALID.replace("third", "drítte").encode("latin-1"))
    with pytest.raises(InputError, match=r"^study is '.*latin\.toml', which cannot be read: .*not UTF-8.*\.$"):
        load(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^study is '.*none\.toml', which cannot be read: No such file.*\.$"):
        load(tmp_path / "none.toml")


def test_a_folder_is_not_a_study(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"which cannot be read: Is a directory\.$"):
        load(tmp_path)
