"""Several domains and grids of parameters in one file: which rows come of them, and what is refused, with its line."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hreach import InputError
from hreach.studies.expanding import combinations, one_at_a_time
from hreach.studies.loading import MAX_BYTES, load, load_all, parse
from hreach.studies.spec import MAX_ROWS

HEAD = """\
title = "T"
steps = 30
runs = 4
seed = 3
"""
DOMAINS = """
[[domain]]
domain = "chain"
params = { slip = 0.1 }
grid = { length = [3, 4] }

[[domain]]
domain = "modified-chain"
label = "the other"
"""
AGENTS = """
[[agent]]
agent = "pac-rmdp"
params = { prior = 2 }
grid = { h = [1, 8], tolerance = [0.1, 0.01] }

[[agent]]
agent = "greedy"
"""
VALID = HEAD + DOMAINS + AGENTS


def refusal(text: str) -> str:
    with pytest.raises(InputError) as refused:
        parse(text, "grid.toml")
    said = str(refused.value)
    assert said.endswith(".")
    assert "\n" not in said
    return said


def line_of(text: str, part: str) -> int:
    (found,) = [number for number, line in enumerate(text.splitlines(), start=1) if part in line]
    return found


# --- what comes of a file ----------------------------------------------------


def test_a_study_for_each_domain_and_a_row_for_each_combination() -> None:
    studies = parse(VALID, "grid.toml")
    assert [(study.domain, study.domain_params) for study in studies] == [
        ("chain", {"slip": 0.1, "length": 3}),
        ("chain", {"slip": 0.1, "length": 4}),
        ("modified-chain", {}),
    ]
    grid = [{"prior": 2, "h": h, "tolerance": tolerance} for h, tolerance in product([1, 8], [0.1, 0.01])]
    for study in studies:
        assert [(spec.agent, spec.params) for spec in study.agent] == [*(("pac-rmdp", g) for g in grid), ("greedy", {})]
        assert (study.steps, study.runs, study.seed) == (30, 4, 3)


def test_titles_and_labels_tell_domains_and_rows_apart() -> None:
    studies = parse(VALID, "grid.toml")
    assert [study.title for study in studies] == [
        "T: chain(slip=0.1, length=3)",
        "T: chain(slip=0.1, length=4)",
        "T: the other",
    ]
    labels = [spec.label for spec in studies[0].agent]
    assert labels[0] == "pac-rmdp(prior=2, h=1, tolerance=0.1)"
    assert len({*labels}) == len(labels) == 5


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("PAC({h})", ["PAC(1)", "PAC(8)"]),
        ("PAC", ["PAC(h=1)", "PAC(h=8)"]),
        ("{h} and {h}", ["1 and 1", "8 and 8"]),
        ("{other}", ["{other}(h=1)", "{other}(h=8)"]),
        ("{h.__class__} {0}", ["{h.__class__} {0}(h=1)", "{h.__class__} {0}(h=8)"]),
    ],
)
def test_a_label_has_the_values_of_its_row_and_nothing_else(label: str, shown: list[str]) -> None:
    agent = f'\n[[agent]]\nagent = "pac-rmdp"\ngrid = {{ h = [1, 8] }}\nalgorithm = "{label}"\n'
    (study,) = parse(HEAD + 'domain = "chain"\n' + agent, "grid.toml")
    assert [spec.label for spec in study.agent] == shown


def test_one_domain_in_a_table_is_the_short_form_but_for_its_title() -> None:
    (short,) = parse(HEAD + 'domain = "chain"\ndomain_params = { length = 4 }\n' + AGENTS, "grid.toml")
    table = '\n[[domain]]\ndomain = "chain"\nparams = { length = 4 }\n'
    (long,) = parse(HEAD + table + AGENTS, "grid.toml")
    assert long.model_copy(update={"title": "T"}) == short
    assert (short.title, long.title) == ("T", "T: chain(length=4)")


def test_a_grid_is_the_rows_written_out() -> None:
    rows = "".join(f'\n[[agent]]\nagent = "pac-rmdp"\nparams = {{ h = {h} }}\n' for h in (1, 8))
    grid = '\n[[agent]]\nagent = "pac-rmdp"\ngrid = { h = [1, 8] }\n'
    (one,), (other,) = (parse(HEAD + 'domain = "chain"\n' + agents, "grid.toml") for agents in (rows, grid))
    assert one == other


def test_a_domain_has_its_own_bounds_or_those_of_the_file() -> None:
    text = VALID.replace("seed = 3", 'seed = 3\nuntil = "ranked"\nbounds = [0.0, 2.0]')
    text = text.replace('label = "the other"', 'label = "the other"\nbounds = [0.0, 1.0]')
    assert [study.bounds for study in parse(text, "grid.toml")] == [[0.0, 2.0], [0.0, 2.0], [0.0, 1.0]]


def test_a_file_with_several_domains_is_no_single_study(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(VALID, encoding="utf-8")
    assert len(load_all(tmp_path / "s.toml")) == 3
    with pytest.raises(InputError, match=r"^domain is \['chain', 'chain', 'modified-chain'\], but must be one domain"):
        load(tmp_path / "s.toml")


GRIDS = st.dictionaries(
    st.sampled_from("abcde"), st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True), max_size=4
)


@settings(max_examples=100, deadline=None)
@given(grid=GRIDS)
def test_combinations_are_all_and_one_at_a_time_has_every_value(grid: dict[str, list[Any]]) -> None:
    found = [tuple(sorted(each.items())) for each in combinations(grid)]
    every = {()} if not grid else {tuple(sorted(zip(grid, v, strict=True))) for v in product(*grid.values())}
    assert len(found) == len({*found})
    assert {*found} == every
    tried = list(one_at_a_time(grid))
    assert {pair for each in tried for pair in each.items()} == {(key, v) for key in grid for v in grid[key]}
    assert len(tried) == 1 + sum(len(values) - 1 for values in grid.values())
    assert {tuple(sorted(each.items())) for each in tried} <= every


# --- too much ----------------------------------------------------------------

THOUSAND = str(list(range(1, 1001)))


@pytest.mark.parametrize("table", ["agent", "domain"])
def test_a_grid_of_a_thousand_million_rows_is_refused_without_making_them(table: str) -> None:
    names = ("h", "prior", "tolerance") if table == "agent" else ("length", "slip", "gamma")
    grid = "grid = { " + ", ".join(f"{name} = {THOUSAND}" for name in names) + " }\n"
    old = 'agent = "greedy"\n' if table == "agent" else 'domain = "modified-chain"\n'
    said = refusal(VALID.replace(old, old + grid))
    rows = {"agent": 3 * (4 + 10**9), "domain": (2 + 10**9) * 5}[table]
    assert said.endswith(f"the grids ask for {rows} rows, but must ask for at most {MAX_ROWS}.")


def test_as_many_rows_as_are_allowed_are_made_and_not_one_more() -> None:
    def text(more: int) -> str:
        grid = f"grid = {{ h = {list(range(1, 1001))}, prior = {list(range(1, 101))} }}"
        one = '\n[[agent]]\nagent = "greedy"\n'
        return HEAD + f'domain = "chain"\n\n[[agent]]\nagent = "pac-rmdp"\n{grid}\n' + more * one

    (study,) = parse(text(0), "grid.toml")
    assert len(study.agent) == MAX_ROWS == 10**5
    assert "the grids ask for 100001 rows" in refusal(text(1))


NESTED = {
    "lists": "x = " + "[" * (MAX_BYTES - 4),
    "closed lists": "x = " + "[" * 400_000 + "]" * 400_000,
    "tables": "x = " + "{x=" * 300_000,
    "keys": ".".join("x" * 400_000) + " = 1",
    "keys of a header": "[" + ".".join("x" * 400_000) + "]",
    "keys in quotes": " . ".join(['"a b"'] * 100_000) + " = 1",
    "keys inside": "x = { " + ".".join("x" * 400_000) + " = 1 }",
}


@pytest.mark.parametrize("kind", NESTED)
def test_a_megabyte_of_nesting_is_one_sentence(kind: str) -> None:
    what = "keys" if "keys" in kind else "brackets"
    assert refusal(NESTED[kind]) == f"grid.toml: {what} are nested too deeply."


@pytest.mark.parametrize("text", ["x" * 10**6, '"' * 10**6, "x." * 99 + "x = 1", "# " + "1.5, " * 10**5])
def test_what_is_not_nested_is_not_taken_for_it(text: str) -> None:
    assert "nested" not in refusal(text)


def test_ten_megabytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.toml"
    path.write_bytes(b"x = " + b"[" * 10**7)
    with pytest.raises(InputError, match=rf"^study is '.*, but must be a file of at most {MAX_BYTES} bytes\.$"):
        load_all(path)


# --- mistakes and their lines ------------------------------------------------

WRONG = [
    # what stands in the valid file, what stands there instead, what the sentence must contain
    ('domain = "modified-chain"', 'domain = "modified-chian"', ["'modified-chian'", "did you mean 'modified-chain'?"]),
    ('domain = "modified-chain"', "domain = 5", ["domain[1].domain is 5", "string"]),
    ("slip = 0.1", "slpi = 0.1", ["'slpi'", "did you mean 'slip'?"]),
    ("slip = 0.1", "slip = 2", ["slip is 2"]),
    ('label = "the other"', 'lable = "the other"', ["domain[1]", "'lable'", "did you mean 'label'?", "known: bounds"]),
    ('label = "the other"', "label = 3", ["domain[1].label is 3", "string"]),
    ('label = "the other"', "bounds = [1.0, 0.0]", ["bounds is [1.0, 0.0]", "the lower one first"]),
    ('label = "the other"', "bounds = [0.0, 1.0]", ["bounds is [0.0, 1.0]", "left out without `until`"]),
    ("{ length = [3, 4] }", "{ length = [] }", ["grid.length is []", "at least one value"]),
    ("{ length = [3, 4] }", "{ length = 3 }", ["domain[0].grid.length is 3", "list"]),
    ("{ length = [3, 4] }", "{ slip = [0.2] }", ["grid.slip is [0.2]", "left out where params has it"]),
    ("h = [1, 8]", "h = []", ["grid.h is []", "at least one value"]),
    ("h = [1, 8]", "h = 8", ["agent[0].grid.h is 8", "list"]),
    ("h = [1, 8]", "prior = [1, 8]", ["grid.prior is [1, 8]", "left out where params has it"]),
    ("seed = 3", "seed = 3\ndomain_params = { length = 3 }", ["domain_params is given", "left out where domains are"]),
    ("seed = 3", 'seed = 3\nprinted = "chain.csv"', ["printed is given", "left out where domains are [[domain]]"]),
]


@pytest.mark.parametrize(("old", "new", "words"), WRONG)
def test_a_mistake_in_a_table_or_a_grid_is_named_with_its_line(old: str, new: str, words: list[str]) -> None:
    assert VALID.count(old) == 1
    text = VALID.replace(old, new)
    said = refusal(text)
    assert said.startswith(f"grid.toml, line {line_of(text, new.splitlines()[-1])}: ")
    assert [word for word in words if word not in said] == []


@pytest.mark.parametrize(
    ("old", "new", "word"), [("[1, 8]", "[1, -8]", "h is -8"), ("[3, 4]", "[3, 1]", "length is 1")]
)
def test_every_value_of_a_grid_is_tried_before_the_first_run(old: str, new: str, word: str) -> None:
    said = refusal(VALID.replace(old, new))
    assert said.startswith("grid.toml, line ")
    assert word in said


def test_a_value_of_a_grid_is_not_blamed_on_a_setting_of_its_name() -> None:
    text = VALID.replace(AGENTS, "\n[settings]\ngamma = 0.9\n" + AGENTS).replace("h = [1, 8]", "h = [8], gamma = [3]")
    assert refusal(text).startswith(f"grid.toml, line {line_of(text, 'params = { prior = 2 }')}: gamma is 3")


def test_an_empty_list_of_domains_is_refused() -> None:
    assert "domain is [], but must be at least one [[domain]] table" in refusal(HEAD + "domain = []\n" + AGENTS)
