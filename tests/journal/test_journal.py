"""A journal: every told row counts once, whatever happens to the process; the same rows give the same action."""

from __future__ import annotations

import csv
import json
import os
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import hreach
from helpers import succeed
from hreach import InputError, Journal
from hreach.cli import main
from hreach.journal import schema, snapshots
from hreach.journal.tally import Tally

FIXTURE = Path(__file__).parent / "format-1.hreach"
ACTIONS = ["low", "high"]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.new(tmp_path / "run.hreach", ACTIONS)


def tell_some(journal: Journal, rows: int, seed: int = 0) -> None:
    """Rows of two states: high in the morning pays, and leads to the evening."""
    rng = np.random.default_rng(seed)
    for _ in range(rows):
        state, action = str(rng.choice(["morning", "evening"])), str(rng.choice(ACTIONS))
        pays = float(state == "morning" and action == "high") + rng.random()
        journal.tell(pays, str(rng.choice(["morning", "evening"])), state=state, action=action)


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one sentence of a command that ends with exit code 2."""
    monkeypatch.setattr("sys.argv", ["hreach", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_asks_wait_for_their_tells_in_any_order(journal: Journal) -> None:
    first, second = journal.ask("morning", unit="a"), journal.ask("evening", unit="b")
    journal.tell(2.0, "morning", id=second.id)
    assert journal.counts() == {"waiting": 1, "told": 1, "void": 0}
    journal.tell(1.0, "evening", id=first.id)
    assert [(e.id, e.unit, e.reward, e.next) for e in journal.entries()] == [
        (first.id, "a", 1.0, "evening"),
        (second.id, "b", 2.0, "morning"),
    ]
    with pytest.raises(InputError, match=f"id {first.id} is 'told already', but must be one that waits"):
        journal.tell(1.0, "evening", id=first.id)


def test_the_action_is_the_best_of_those_allowed(journal: Journal) -> None:
    for _ in range(60):
        for state in ("morning", "evening"):
            journal.tell(1.0, state, state=state, action="high")
            journal.tell(0.0, state, state=state, action="low")
    best = journal.ask("morning")
    assert (best.action, best.tried, best.samples) == ("high", 60, 240)
    assert best.certain_value == pytest.approx(1 / (1 - 0.95), rel=1e-3)  # 1 at every step
    assert best.lower <= best.certain_value <= best.internal_value <= best.upper * (1 + 1e-3)
    assert journal.ask("morning", allow=["low"]).action == "low"


def test_the_same_history_gives_the_same_action_however_it_was_written(tmp_path: Path) -> None:
    one, two = (Journal.new(tmp_path / name, ACTIONS, ["evening", "morning"]) for name in ("1.hreach", "2.hreach"))
    for journal in (one, two):
        tell_some(journal, 12, seed=3)
        journal.ask("morning")
    wrong = two.tell(50.0, "evening", state="evening", action="low")
    two.void(wrong, "sensor fault")
    again = [Journal(one.path).ask("evening"), two.ask("evening")]
    assert again[0].action == again[1].action
    assert again[0].internal_value == again[1].internal_value
    assert one.tally().to_bytes() == two.tally().to_bytes()


def test_ties_follow_from_seed_and_history(tmp_path: Path) -> None:
    asked = [Journal.new(tmp_path / f"{seed}.hreach", ACTIONS, seed=seed).ask("s").action for seed in range(12)]
    assert set(asked) == set(ACTIONS)


def test_snapshots_change_nothing_and_a_damaged_one_is_passed_over(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "EVERY", 7)
    tell_some(journal, 40)
    plain = Tally()
    plain.add((e.state, ACTIONS.index(e.action), e.reward or 0.0, e.next or "", 0) for e in journal.entries())
    assert journal.tally().to_bytes() == plain.to_bytes()
    with sqlite3.connect(journal.path) as connection:
        assert [told for [told] in connection.execute("SELECT told FROM snapshots ORDER BY told")] == [21, 28, 35]
        assert snapshots.tally_of(connection, ())[1] == 5
        connection.execute("UPDATE snapshots SET data = x'00' WHERE told = 35")
        assert snapshots.tally_of(connection, ())[1] == 12
    assert journal.tally().to_bytes() == plain.to_bytes()
    journal.void(3, "mistake")  # older than every snapshot
    rest = Tally()
    rest.add(
        (e.state, ACTIONS.index(e.action), e.reward or 0.0, e.next or "", 0) for e in journal.entries() if not e.void
    )
    assert journal.tally().to_bytes() == rest.to_bytes()


def test_undo_takes_back_step_by_step(journal: Journal) -> None:
    tell_some(journal, 3)
    before = journal.tally().to_bytes()
    asked = journal.ask("morning")
    journal.tell(1.0, "evening", id=asked.id)
    journal.void(asked.id, "sensor fault")
    assert [journal.undo(), journal.undo()] == [f"void of id {asked.id}", f"tell of id {asked.id}"]
    assert journal.counts()["waiting"] == 1
    assert journal.undo() == f"ask of id {asked.id}"
    assert journal.tally().to_bytes() == before
    assert journal.ask("morning").id == asked.id + 1  # no id is used twice


def test_past_the_lifetime_it_says_so(tmp_path: Path) -> None:
    with Journal.new(tmp_path / "short.hreach", ACTIONS, lifetime=2) as short:
        assert short.settings.h == "lifetime"
        assert not short.ask("s").past_lifetime
        for _ in range(2):
            short.tell(1.0, "s", state="s", action="low")
        assert short.ask("s").past_lifetime
    assert "past the lifetime of 2" in succeed("ask", tmp_path / "short.hreach", "--state", "s")


def test_the_commands(tmp_path: Path) -> None:
    path = tmp_path / "run.hreach"
    succeed("new", path, "--actions", "low,high", "--h", "4", "--gamma", "0.9", "--states", "morning")
    advice = json.loads(succeed("ask", path, "--state", "morning", "--unit", "bed-1", "--json"))
    assert advice["action"] in ACTIONS
    succeed("tell", path, "--id", str(advice["id"]), "--reward", "3.2", "--next", "evening")
    succeed("tell", path, "--reward", "-1", "--state", "evening", "--action", "high", "--terminated")
    succeed("void", path, "2", "--because", "sensor fault")
    shown = succeed("show", path)
    assert "void: sensor fault" in shown
    assert "own choice" in shown
    assert "undone: void of id 2" in succeed("undo", path)
    said = succeed("certify", path, "--state", "evening")
    assert said.startswith("From 2 samples, with probability at least 0.9: in state evening this policy")
    assert "assumes: there are no states but the 3 that were declared or have appeared" in said
    for name in ("rows.csv", "rows.parquet"):
        succeed("export", path, tmp_path / name)
    with (tmp_path / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["unit"], row["reward"], row["recommended"]) for row in rows] == [
        ("bed-1", "3.2", "1"),
        ("", "-1.0", "0"),
    ]
    assert pq.read_table(tmp_path / "rows.parquet")["next"].to_pylist() == ["evening", "(end)"]


def test_a_reward_outside_the_range_that_was_given_is_said_and_widens_it(tmp_path: Path) -> None:
    path = tmp_path / "run.hreach"
    Journal.new(path, ACTIONS, r_min=0, r_max=2)

    def tell(reward: str) -> str:
        return succeed("tell", path, "--state", "a", "--action", "low", "--next", "a", f"--reward={reward}")

    assert tell("2").strip() == "told, id 1"
    assert Journal(path).ask("a").range_given
    assert "9 is outside r_max = 2, which was given" in tell("9")
    assert "-1 is outside r_min = 0, which was given" in tell("-1")
    advice = Journal(path).ask("a")
    assert (advice.reward_range, advice.range_given) == ((-1.0, 9.0), False)
    assert "[-1, 9], by what was told" in succeed("ask", path, "--state", "a")


def test_a_journal_is_certified_as_its_counts_are(journal: Journal) -> None:
    tell_some(journal, 500)
    found, mind = journal.certify(0.05, "morning"), journal.mind()
    assert found.sentence() == mind.agent.certify(0.05, mind.numbers["morning"]).sentence()


# --- files that cannot be used --------------------------------------------------------------------------------------

FULL = """
import resource, sys
from hreach import Journal
with Journal(sys.argv[1]) as journal:
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
    for i in range(10**5):
        print(journal.tell(float(i), "s", state="s", action="low"), flush=True)
"""


def test_a_disk_without_room_is_one_sentence_and_what_was_told_is_kept(journal: Journal) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    done = subprocess.run([sys.executable, "-c", FULL, str(journal.path)], capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("hreach.errors.InputError:")
    assert last.endswith("nothing was changed, what was told before is kept.")
    told = [int(line) for line in done.stdout.splitlines()]
    assert told
    assert [entry.id for entry in Journal(journal.path).entries()] == told


def test_a_full_disk_is_said(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = journal._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(InputError, match="cannot be written: database or disk is full; nothing was changed"):
        tell_some(journal, 10**4)


@pytest.mark.parametrize("case", ["truncated", "other version", "no journal", "absent", "read-only", "empty"])
def test_a_file_that_cannot_be_used_is_one_sentence(
    case: str, journal: Journal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tell_some(journal, 50)
    journal.close()
    path, says = journal.path, "is no journal of hreach; `hreach new` makes one."
    if case == "truncated":
        path.write_bytes(path.read_bytes()[:-5000])
        says = "is damaged or cut off, but must be whole; take a copy of it from a backup."
    elif case == "other version":
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
        says = "is 99, but must be at most 1, which this hreach knows."
    elif case == "no journal":
        path.write_text("state,action\n")
    elif case == "empty":
        path.write_bytes(b"")
    elif case == "absent":
        path.unlink()
        says = "but must be a file that `hreach new` made."
    else:
        monkeypatch.setattr("os.access", lambda _, mode: not mode & os.W_OK)
        says = "cannot be written, but must be, its folder too; nothing was changed."
    said = refused(monkeypatch, capsys, "tell", path, "--reward", 1, "--next", "s", "--state", "s", "--action", "low")
    assert said.strip().endswith(says)


def test_mistakes_are_one_sentence(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = journal.path
    cases: list[tuple[Any, ...]] = [
        (("new", path, "--actions", "a"), "exists, but must be a new file."),
        (("new", f"{path}2", "--actions", "a,a"), "must be different names."),
        (("ask", path, "--state", "s", "--allow", "hihg"), "did you mean 'high'?"),
        (("tell", path, "--id", 9, "--reward", 1, "--next", "s"), "id is 9, but must be that of a row in the journal."),
        (("tell", path, "--reward", 1, "--next", "s"), "id is not given, but must be"),
        (("tell", path, "--reward", "nan", "--next", "s", "--id", 1), "reward is nan, but must be a number."),
        (("tell", path, "--reward", 1, "--id", 1), "next is None, but must be given unless the episode terminated."),
        (("undo", path), "nothing was asked or told yet"),
        (("export", path, "rows.xls"), "one that ends in .csv or .parquet"),
    ]
    for arguments, says in cases:
        assert says in refused(monkeypatch, capsys, *arguments)
    assert not Path(f"{path}2").exists()
    assert list(journal.entries()) == []


def test_a_journal_of_the_first_format_is_read(tmp_path: Path) -> None:
    """The file was written by the first version and is never made anew."""
    path = tmp_path / "old.hreach"
    path.write_bytes(FIXTURE.read_bytes())
    with Journal(path) as journal:
        assert schema.FORMAT >= 1
        assert journal.counts() == {"waiting": 1, "told": 5, "void": 1}
        assert journal.settings.actions == ("low", "high")
        assert journal.tally().samples == 5
        assert journal.ask("morning").id == 8


def test_it_is_a_main_name() -> None:
    assert hreach.Journal is Journal
