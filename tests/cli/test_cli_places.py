"""The command line where something is in its way: folders, disks, damaged files, long names, plain terminals."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hreach
from helpers import content, succeed
from hreach.cli import app as cli
from hreach.cli import executing

STUDY = """\
title = "T"
domain = "chain"
steps = 60
runs = 4
seed = 7

[[agent]]
agent = "pac-rmdp"
params = { h = 8 }

[[agent]]
agent = "greedy"
"""
HERE = ["run", "good.toml", "--out", "out"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a study."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.toml").write_text(STUDY, encoding="utf-8")
    return tmp_path


def main_says(line: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> tuple[Any, str]:
    """(exit code, the last line on the error stream) of a command; there is no traceback."""
    monkeypatch.setattr(sys, "argv", ["hreach", *line])
    code: Any = 0
    try:
        cli.main()
    except SystemExit as stopped:
        code = stopped.code
    said = capfd.readouterr().err
    assert "Traceback" not in said
    return code, (said.splitlines() or [""])[-1]


def test_a_tilde_in_the_folder_is_the_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder / "home"))
    succeed("run", "good.toml", "--out=~/mine", "--runs", "1")
    assert (folder / "home" / "mine" / "report.html").is_file()
    assert not (folder / "~").exists()


def test_the_home_of_nobody_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code, said = main_says(["run", "good.toml", "--out=~nobody-at-all/x"], monkeypatch, capfd)
    assert code == 2
    assert said.startswith("hreach: out is '~nobody-at-all/x', but must begin with")


@pytest.mark.parametrize("name", ["tables", "figures", "shards", "studies"])
def test_a_file_in_the_place_of_a_folder_is_found_before_any_work(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "out").mkdir()
    (folder / "out" / name).touch()
    before = content(folder)
    code, said = main_says(HERE, monkeypatch, capfd)
    assert (code, said) == (2, f"hreach: out is 'out', but must be a folder in which {name!r} is no file.")
    assert content(folder) == before


FULL = "but must be a folder that can be written (No space left on device); what was finished is kept and not computed"


# Everything that is written, in this order: the record of a study at its beginning and at its end; a picture's PNG
# first, because a PNG beside the same SVG is not drawn again.
WRITTEN = [".json", ".parquet", ".parquet", ".json", ".csv", ".png", ".svg", ".png", ".svg", ".html"]


@pytest.mark.parametrize("fails", range(len(WRITTEN)))
def test_a_full_disk_is_one_sentence_and_nothing_is_half_written(
    fails: int, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write, kinds = Path.write_bytes, list[str]()

    def full(path: Path, data: bytes) -> int:
        kinds.append(re.findall(r"\.(?:json|parquet|csv|svg|png|html)\b", path.name)[-1])
        if len(kinds) <= fails:
            return write(path, data)
        write(path, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        code, said = main_says(HERE, patch, capfd)
    assert code == 2
    assert said.startswith(f"hreach: out is 'out', {FULL}")
    assert kinds[: fails + 1] == WRITTEN[: fails + 1]
    assert set(kinds[fails + 1 :]) <= {".parquet"}  # a shard that another writer had in hand
    there = {str(p.relative_to("out")): p.read_bytes() for p in Path("out").rglob("*") if p.is_file()}
    names = [*WRITTEN[:fails]]
    if names.count(".json") == 2:
        names.remove(".json")
    assert sorted(Path(name).suffix for name in there) == sorted(names)
    assert main_says(HERE, monkeypatch, capfd)[0] == 0
    whole = content(folder / "out")
    assert [name for name, data in there.items() if not name.endswith(".json") and whole[name] != data] == []
    assert not [name for name in whole if name.endswith(".tmp")]


def test_a_damaged_shard_is_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    succeed("run", "good.toml", "--out", "out")
    shard = sorted((folder / "out").rglob("*.parquet"))[0]
    shard.write_bytes(shard.read_bytes()[:-20])
    for line in (["report", "out"], [*HERE, "--runs", "5"]):
        code, said = main_says(line, monkeypatch, capfd)
        assert code == 2
        where = r"hreach: shard 'out/shards/\w+/0-4-\w{16}\.parquet'"
        assert re.fullmatch(rf"{where} is damaged \(.+\); delete it and run again\.", said)
    shard.unlink()
    assert main_says(HERE, monkeypatch, capfd)[0] == 0
    assert main_says(["report", "out"], monkeypatch, capfd)[0] == 0


def test_pages_of_other_studies_are_not_overwritten(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executing, "TABLES", ())  # audits take time
    (folder / "other.toml").write_text((folder / "good.toml").read_text("utf-8").replace('"T"', '"U"'), "utf-8")
    pages = {}
    for name, page in (("good", "report.html"), ("other", "report-other.html"), ("good", "report.html")):
        shown = succeed("run", f"{name}.toml", "--out", "out", "--runs", "1")
        assert f"page:   {Path('out') / page}\n" in shown
        pages[name] = (folder / "out" / page).read_text("utf-8")
    assert "<title>T</title>" in pages["good"]
    assert "<title>U</title>" in pages["other"]
    assert (folder / "out" / "report-other.html").read_text("utf-8") == pages["other"]
    shown = succeed("reproduce", "chain", "--runs", "1", "--out", "out")
    assert "page:   out/report-chain.html\n" in shown
    assert {p.name for p in (folder / "out").glob("*.html")} == {
        "report.html",
        "report-other.html",
        "report-chain.html",
    }


def test_a_study_named_like_one_of_the_papers_has_tables_of_its_own(folder: Path) -> None:
    (folder / "good.toml").rename(folder / "chain.toml")
    succeed("run", "chain.toml", "--out", "out", "--runs", "1")
    assert [p.name for p in (folder / "out" / "tables").iterdir()] == ["study-chain.csv"]


@pytest.mark.parametrize("letters", [400, 5000])
def test_a_variant_may_be_long(letters: int, folder: Path) -> None:
    text = (folder / "good.toml").read_text("utf-8")
    variants = "".join(f'\n[[agent]]\nagent = "greedy"\nvariant = "{"v" * letters}{end}"\n' for end in "ab")
    (folder / "good.toml").write_text(text + variants, encoding="utf-8")
    succeed("run", "good.toml", "--out", "out", "--runs", "1")
    assert len(list((folder / "out" / "figures").glob("*.png"))) == 6


def test_a_study_file_may_begin_with_a_byte_order_mark(folder: Path) -> None:
    (folder / "good.toml").write_bytes(b"\xef\xbb\xbf" + (folder / "good.toml").read_bytes())
    succeed("run", "good.toml", "--out", "out", "--runs", "1")


def test_the_package_is_a_command() -> None:
    done = subprocess.run([sys.executable, "-m", "hreach", "--version"], capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"hreach {hreach.__version__}\n", "")


CHOOSE = ["choose-h", "--lifetime", "50", "--runs", "2", "--domain", "chain", "--h", "1", "--h", "8"]
LATIN = {"PYTHONIOENCODING": "latin-1"}
BARE = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


@pytest.mark.parametrize(("arguments", "terminal"), [(HERE, LATIN), (CHOOSE, LATIN), (CHOOSE, BARE)])
def test_a_terminal_that_cannot_show_a_letter_shows_the_rest(
    arguments: list[str], terminal: dict[str, str], folder: Path
) -> None:
    (folder / "good.toml").write_text(STUDY.replace('"T"', '"Größe – λ"'), encoding="utf-8")
    command = [sys.executable, "-m", "hreach", *arguments]
    done = subprocess.run(command, capture_output=True, env=os.environ | terminal, timeout=120)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert b"?" in done.stdout
