"""The command line: what it prints and writes, and that bad input is one line, exit code 2, and nothing written."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hreach
from helpers import content, succeed
from hreach.agents import AGENTS, LINEAR_AGENTS, STEPPED_AGENTS
from hreach.cli import app as cli
from hreach.cli import studies as commands
from hreach.cli.listing import everything
from hreach.domains import DOMAINS
from hreach.studies import catalog
from hreach.studies.code import code_digest
from hreach.studies.loading import load_catalog
from hreach.studies.maker import maker
from hreach.studies.spec import Study
from pages import foreign_scripts

STUDY = """\
title = "{title}"
domain = "chain"
domain_params = {{ length = 4 }}
steps = 60
runs = 4
seed = 7

[[agent]]
agent = "pac-rmdp"
params = {{ h = 8 }}
algorithm = "{label}"

[[agent]]
agent = "greedy"
"""
COLUMNS = "algorithm,variant,mean,p10,p90,se,runs,printed_mean,printed_p10,printed_p90,verdict,informative"
COLUMNS += ",mean_low,mean_high,iqm,iqm_low,iqm_high,better,better_low,better_high"
EVIL = "<script>alert(1)</script>"
PNG_BEGIN, PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)


def write_study(path: Path, title: str = "T", label: str = "mine") -> Path:
    path.write_text(STUDY.format(title=title, label=label), encoding="utf-8")
    return path


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def section(page: str, anchor: str) -> str:
    found = re.search(rf'<section id="{anchor}">.*?</section>', page, re.DOTALL)
    assert found is not None
    return found[0]


class Links(HTMLParser):
    """All tags of a page, and everything that a browser would load or follow."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.targets: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        names = ("src", "href", "xlink:href", "srcset", "data", "action", "poster")
        self.targets += [value or "" for name, value in attrs if name in names]


# --- list, version -----------------------------------------------------------


def test_version_is_the_packages_version() -> None:
    assert succeed("--version") == f"hreach {hreach.__version__}\n"


def test_list_as_json_names_everything_with_description_and_citation() -> None:
    entries = json.loads(succeed("list", "--json"))
    names = {kind: [line["name"] for line in lines] for kind, lines in entries.items()}
    assert names == {
        "agents": [*AGENTS, *LINEAR_AGENTS, *STEPPED_AGENTS],
        "domains": list(DOMAINS),
        "studies": list(catalog.texts()),
    }
    for line in (line for lines in entries.values() for line in lines):
        assert line["description"].strip()
        assert line["citation"].strip()


def test_list_shows_what_the_json_says() -> None:
    shown = succeed("list")
    for kind, lines in everything().items():
        assert f"\n{kind.upper()}\n" in shown
        for line in lines:
            assert re.search(rf"^  {re.escape(line['name'])} +{re.escape(line['description'])}$", shown, re.MULTILINE)
            assert line.get("parameters", "") in shown
            assert line["citation"] in shown


def test_list_shows_an_agents_own_parameters_with_defaults() -> None:
    agents = {line["name"]: line["parameters"] for line in everything()["agents"]}
    domains = {line["name"]: line["parameters"] for line in everything()["domains"]}
    assert agents["epsilon-greedy"] == "epsilon=0.1"
    assert agents["greedy"] == ""
    assert domains["chain"] == "length=5, slip=0.2, small=0.2, large=1.0, gamma=0.95"
    assert domains["sixarms"].startswith("chances=(1.0, 0.15, 0.1, 0.05, 0.03, 0.01), pays=(")
    shown = [*agents.values(), *domains.values()]
    assert [line for line in shown if re.search(r"=[A-Z][A-Z_]+", line)] == []  # the name of a constant says nothing


def test_list_has_columns() -> None:
    """Descriptions begin in one column, and what follows them further right."""
    lines = [line for line in succeed("list").splitlines() if line.startswith("  ")]
    described = [line for line in lines if line[2] != " "]
    begins = {re.match(r"  \S+ +", line).end() for line in described}  # type: ignore[union-attr]
    assert len(begins) == 1
    assert {len(line) - len(line.lstrip()) for line in lines if line not in described} == {begins.pop() + 2}


def test_listing_imports_nothing_that_takes_time() -> None:
    code = (
        "import sys, hreach.cli.listing; hreach.cli.listing.everything(); "
        "print([m for m in ('numba', 'scipy', 'matplotlib', 'pyarrow') if m in sys.modules])"
    )
    done = python(code)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")


def test_the_list_command_imports_nothing_that_takes_time() -> None:
    code = (
        "import sys; from hreach.cli.app import app; sys.argv[1:] = ['list', '--json']; app(standalone_mode=False); "
        "print([m for m in ('numba', 'scipy', 'matplotlib', 'pyarrow') if m in sys.modules])"
    )
    done = python(code)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["list", "--help"], ["reproduce", "--help"], ["run", "--help"], ["report", "--help"]]
)
def test_every_command_has_help_with_an_example(arguments: list[str]) -> None:
    shown = succeed(*arguments)
    assert ("Example: hreach " in shown) == (len(arguments) == 2)
    assert "Usage: " in shown


def test_the_list_of_commands_cuts_no_sentence_off() -> None:
    listed = succeed("--help").partition("Commands:")[2].splitlines()
    assert len(listed) > 20
    assert all(line.endswith((".", "?")) and "..." not in line for line in listed if line)


# --- reproduce ---------------------------------------------------------------


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `hreach reproduce chain --runs 20` writes."""
    out = tmp_path_factory.mktemp("chain") / "new" / "out"
    shown = succeed("reproduce", "chain", "--runs", "20", "--out", out)
    assert f"page:   {out / 'report.html'}\n" in shown
    assert re.search(r"^Five-state chain: \d+ of 11 printed rows reproduced", shown, re.MULTILINE)
    return out


def test_reproduce_writes_page_table_figures_and_shards_and_nothing_else(chain: Path) -> None:
    files = {str(p.relative_to(chain)) for p in chain.rglob("*") if p.is_file()}
    names = [f"chain-as-{variant}{kind}" for variant in ("printed", "defined") for kind in ("", "-profile")]
    figures = {f"figures/{name}.{ext}" for name in names for ext in ("svg", "png")}
    shards = {f for f in files if re.fullmatch(r"shards/[0-9a-f]{16}/0-20-[0-9a-f]{16}\.parquet", f)}
    figures |= {f"figures/promises-chain-{part}.{ext}" for part in ("1", "2", "h") for ext in ("svg", "png")}
    audits = {f for f in files if re.fullmatch(r"shards/[0-9a-f]{16}/0-1-[0-9a-f]{16}\.parquet", f)}
    tables = {"tables/chain.csv", "tables/promises.csv"}
    assert files - shards - audits == {"report.html", "studies/chain.json", *tables, *figures}
    assert len(shards) > 20
    assert len(audits) == 6


def test_the_table_has_the_columns_of_the_interface_and_26_rows(chain: Path) -> None:
    path = chain / "tables" / "chain.csv"
    assert path.read_text("utf-8").splitlines()[0] == COLUMNS
    rows = table(path)
    assert len(rows) == 26
    assert {row["runs"] for row in rows} == {"20"}
    assert [row["variant"] for row in rows] == ["as printed"] * 13 + ["as defined"] * 13


def test_the_table_puts_the_printed_numbers_beside_ours(chain: Path) -> None:
    rows = table(chain / "tables" / "chain.csv")
    first, third = rows[0], rows[2]
    assert (first["algorithm"], first["printed_mean"], first["printed_p10"]) == ("PAC-RMDP(1)", "0.357", "0.332")
    assert (third["printed_p10"], third["printed_p90"]) == ("0.305", "")
    ours = [row for row in rows if row["algorithm"] in ("PAC-RMDP(growing)", "PAC-RMDP(adaptive)")]
    assert len(ours) == 4
    compared = ("printed_mean", "printed_p10", "printed_p90", "verdict", "informative")
    assert {row[column] for row in ours for column in compared} == {""}
    assert {row["verdict"] for row in rows if row not in ours} <= {"reproduced", "undecided"}
    assert {row["informative"] for row in rows if row not in ours} == {"True", "False"}


def test_figures_are_whole_files(chain: Path) -> None:
    for variant in ("printed", "defined"):
        picture = (chain / "figures" / f"chain-as-{variant}.png").read_bytes()
        assert picture.startswith(PNG_BEGIN)
        assert picture.endswith(PNG_END)
        assert ET.parse(chain / "figures" / f"chain-as-{variant}.svg").getroot().tag.endswith("svg")


def test_the_page_needs_nothing_from_elsewhere(chain: Path) -> None:
    page = (chain / "report.html").read_text("utf-8")
    links = Links(page)
    assert links.tags.isdisjoint({"link", "iframe", "img", "base", "object", "embed"})
    assert foreign_scripts(page) == []
    outside = [t for t in links.targets if not t.startswith("#") and not (chain / t).is_file()]
    assert links.targets
    assert outside == []
    assert re.findall(r"@import|url\(\s*['\"]?(?!#)", page) == []


def test_the_page_is_small(chain: Path) -> None:
    """So that the page of both tables is at most 2 MB; single runs beyond the first thirty are not in it."""
    assert (chain / "report.html").stat().st_size < 950_000


def test_the_provenance_tells_version_seed_and_size(chain: Path) -> None:
    told = section((chain / "report.html").read_text("utf-8"), "provenance")
    assert f"<dt>hreach</dt><dd>{hreach.__version__}, code {code_digest()}</dd>" in told
    assert "Drawn by" not in told
    assert "20 runs of 3000 steps, seed 2016" in told
    assert "gamma = 0.95" in told
    assert told.count("PAC-RMDP(8) (as printed): pac-rmdp with h = 8, prior = 1; constants (given): h = 8") == 1


def test_the_provenance_tells_who_computed_and_who_drew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the runs come from another machine, and this one draws the page."""
    study = write_study(tmp_path / "s.toml")
    other = dict.fromkeys(maker(), "of old") | {"Machine": "Abacus & Sons"}
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("hreach.studies.shards.maker", lambda: other)
        succeed("run", study, "--out", tmp_path / "out", "--runs", "2")
    for runs in ("2", "4"):
        succeed("run", study, "--out", tmp_path / "out", "--runs", runs)
        told = section((tmp_path / "out" / "report.html").read_text("utf-8"), "provenance")
        here = escape(maker()["Machine"])
        computed = "Abacus &amp; Sons" if runs == "2" else f"Abacus &amp; Sons\n{here}"
        assert f"<dt>Machine</dt><dd>{computed}</dd>" in told
        assert re.search(rf"<dt>Drawn by</dt><dd>[^<]*Machine {re.escape(here)}</dd>", told)


def test_reproducing_again_gives_the_same_table(chain: Path, tmp_path: Path) -> None:
    succeed("reproduce", "chain", "--runs", "20", "--jobs", "1", "--out", tmp_path)
    assert (tmp_path / "tables/chain.csv").read_bytes() == (chain / "tables/chain.csv").read_bytes()


def test_without_names_only_the_two_tables_are_reproduced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(commands, "execute", lambda studies, *rest: asked.extend(name for name, _ in studies))
    succeed("reproduce", "--out", tmp_path)
    assert asked == ["chain", "modified-chain"]


def test_quick_reproduces_the_tables_with_few_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "QUICK_RUNS", 2)
    succeed("reproduce", "--quick", "--out", tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    for name in ("chain", "modified-chain"):
        assert section(page, name)
        assert {row["runs"] for row in table(tmp_path / "tables" / f"{name}.csv")} == {"2"}


@pytest.fixture(scope="module")
def car(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `hreach reproduce mountain-car` writes, with a car that has little time."""
    out = tmp_path_factory.mktemp("car")

    def short(study: Study) -> Study:
        fields = {"runs": 2, "episodes": 2, "domain_params": {"max_steps": 20}, "settings": {"grid": [6, 6]}}
        return study.model_copy(update=fields)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commands, "made_quick", short)
        shown = succeed("reproduce", "mountain-car", "--quick", "--jobs", "2", "--out", out)
    assert re.search(
        r"^Mountain car: as printed: \d of \d claims of the paper hold.*; hreach defaults: \d of", shown, re.MULTILINE
    )
    return out


def test_figure_2_is_a_page_two_tables_and_one_figure(car: Path) -> None:
    files = {str(p.relative_to(car)) for p in car.rglob("*") if p.is_file()}
    shards = {f for f in files if re.fullmatch(r"shards/[0-9a-f]{16}/[01]-[12]-[0-9a-f]{16}\.parquet", f)}
    tables = {"tables/mountain-car.csv", "tables/mountain-car-claims.csv"}
    names = ["mountain-car", *(f"mountain-car-{v}-profile" for v in ("as-printed", "hreach-defaults"))]
    figures = {f"figures/{name}.{ext}" for name in names for ext in ("svg", "png")}
    assert files - shards == {"report.html", "studies/mountain-car.json", *tables, *figures}
    assert len(shards) == 36


def test_figure_2_has_every_algorithm_in_both_variants(car: Path) -> None:
    rows = table(car / "tables" / "mountain-car.csv")
    assert [row["variant"] for row in rows] == ["as printed"] * 9 + ["hreach defaults"] * 9
    assert {row["runs"] for row in rows} == {"2"}
    assert {row["goals_most"] for row in rows} == {"0"}


def test_two_runs_decide_no_claim_but_by_a_counterexample(car: Path) -> None:
    claims = table(car / "tables" / "mountain-car-claims.csv")
    assert {row["verdict"] for row in claims if row["kind"] not in ("at least", "at most")} == {"undecided"}
    assert {row["verdict"] for row in claims if row["kind"] == "at least"} == {"does not hold"}


def test_the_page_of_figure_2_needs_nothing_from_elsewhere(car: Path) -> None:
    page = (car / "report.html").read_text("utf-8")
    links = Links(page)
    assert links.tags.isdisjoint({"link", "iframe", "img", "base", "object", "embed"})
    assert foreign_scripts(page) == []
    assert [t for t in links.targets if not t.startswith("#") and not (car / t).is_file()] == []
    assert section(page, "mountain-car").count('class="verdict') == 2 * len(load_catalog("mountain-car").claim)


def test_quick_makes_a_study_by_episodes_small() -> None:
    quick = commands.made_quick(load_catalog("mountain-car"))
    assert (quick.runs, quick.episodes) == (commands.QUICK_EPISODE_RUNS, commands.QUICK_EPISODES)
    assert commands.made_quick(quick.model_copy(update={"episodes": 3})).episodes == 3
    assert quick.text.endswith(
        "2 runs of 10 episodes instead of 10 of 100, without claims that a run reaches something."
    )
    assert "at least" not in {claim.kind for claim in quick.claim}


# --- report ------------------------------------------------------------------


def test_a_report_draws_the_same_from_the_store_alone(chain: Path, tmp_path: Path) -> None:
    """In a process of its own, which loads nothing that could run an agent."""
    out = tmp_path / "out"
    for part in ("shards", "studies"):
        shutil.copytree(chain / part, out / part)
    code = (
        "import sys; from hreach.cli.app import app; app(sys.argv[1:], standalone_mode=False); "
        "print([m for m in ('numba', 'hreach.kernels', 'hreach.running.simulate', 'hreach.agents.make') "
        "if m in sys.modules])"
    )
    done = python(code, "report", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "[]"
    files = [p.relative_to(chain) for p in chain.rglob("*") if p.is_file()]
    assert [name for name in files if (out / name).read_bytes() != (chain / name).read_bytes()] == []
    assert len(files) == len([p for p in out.rglob("*") if p.is_file()])


def test_a_report_of_some_studies_is_a_page_of_its_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        succeed("run", write_study(tmp_path / f"{name}.toml", title=name), "--out", tmp_path / "out", "--runs", "2")
    shown = succeed("report", tmp_path / "out")
    assert f"page:   {tmp_path / 'out' / 'report-one-two.html'}\n" in shown
    page = (tmp_path / "out" / "report-one-two.html").read_text("utf-8")
    assert "<title>one, two</title>" in page
    assert all(section(page, name) for name in ("one", "two"))
    assert f"page:   {tmp_path / 'out' / 'report.html'}\n" in succeed("report", tmp_path / "out", "one")


def test_a_report_of_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    succeed("run", write_study(tmp_path / "good.toml"), "--out", tmp_path / "out", "--runs", "1")
    (tmp_path / "empty").mkdir()
    record = tmp_path / "out" / "studies" / "good.json"
    whole = record.read_bytes()

    def says(*arguments: str | Path) -> str:
        monkeypatch.setattr(sys, "argv", ["hreach", "report", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        assert stopped.value.code == 2
        return capfd.readouterr().err.splitlines()[-1]

    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "none"):
        assert f"DIR is '{folder}', but must be a folder in which a study was finished." in says(folder)
    assert not (tmp_path / "none").exists()
    assert "study is 'god', which is not known; did you mean 'good'?" in says(tmp_path / "out", "god")
    record.write_bytes(whole[:-20])
    assert re.search(r"good\.json' is not the record of a study; delete it", says(tmp_path / "out"))
    more = re.sub(rb'"used": \[\s*1,\s*1\s*\]', b'"used": [3, 3]', whole)
    assert more != whole
    record.write_bytes(more)
    assert re.search(r"but must be a folder in which a row of a study was finished\.$", says(tmp_path / "out"))


# --- run ---------------------------------------------------------------------

BY_EPISODES = """\
title = "Short"
domain = "mountain-car"
domain_params = { max_steps = 20 }
episodes = 2
runs = 2
seed = 7

[settings]
grid = [6, 6]

[[agent]]
agent = "linear-pac-rmdp"
params = { h = 1 }

[[agent]]
agent = "linear-epsilon-greedy"
"""


def test_a_study_by_episodes_of_ones_own_runs(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(BY_EPISODES, encoding="utf-8")
    shown = succeed("run", tmp_path / "mine.toml", "--out", tmp_path / "out", "--jobs", "1")
    assert re.search(r"^Short: done \(.* s\)$", shown, re.MULTILINE)
    rows = table(tmp_path / "out" / "tables" / "mine.csv")
    assert [row["algorithm"] for row in rows] == ["linear-pac-rmdp(h=1)", "linear-epsilon-greedy"]
    more = succeed("run", tmp_path / "mine.toml", "--out", tmp_path / "out", "--jobs", "1", "--runs", "3")
    assert "Short: done" in more
    assert {row["runs"] for row in table(tmp_path / "out" / "tables" / "mine.csv")} == {"3"}
    assert len(list((tmp_path / "out").rglob("*.parquet"))) == 6


def test_run_writes_the_studys_page_table_and_figure(tmp_path: Path) -> None:
    study, out = write_study(tmp_path / "my study (1).toml", title="A title"), tmp_path / "out"
    shown = succeed("run", study, "--out", out)
    assert re.search(r"^A title: done \(.* s\)$", shown, re.MULTILINE)
    (path,) = (out / "tables").iterdir()
    assert [(row["algorithm"], row["runs"], row["verdict"]) for row in table(path)] == [
        ("mine", "4", ""),
        ("greedy", "4", ""),
    ]
    assert sorted(p.suffix for p in (out / "figures").iterdir()) == [".png", ".png", ".svg", ".svg"]
    assert "<title>A title</title>" in (out / "report.html").read_text("utf-8")


def test_run_takes_the_number_of_runs_from_the_option(tmp_path: Path) -> None:
    succeed("run", write_study(tmp_path / "s.toml"), "--out", tmp_path / "out", "--runs", "3", "--jobs", "2")
    assert {row["runs"] for row in table(tmp_path / "out" / "tables" / "s.csv")} == {"3"}


def test_a_single_run_has_no_standard_error_and_a_page(tmp_path: Path) -> None:
    succeed("run", write_study(tmp_path / "s.toml"), "--out", tmp_path / "out", "--runs", "1")
    assert {row["se"] for row in table(tmp_path / "out" / "tables" / "s.csv")} <= {"nan", ""}
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.parametrize("name", ["provenance", "contents", "fig-1", "äöü", "-"])
def test_a_study_file_may_have_any_name(name: str, tmp_path: Path) -> None:
    succeed("run", write_study(tmp_path / f"{name}.toml"), "--out", tmp_path / "out", "--runs", "1")
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.parametrize("variant", ["a/b", "../up", "Größe (2)", EVIL])
def test_a_variant_may_have_any_name_and_stays_in_the_folder(variant: str, tmp_path: Path) -> None:
    study = write_study(tmp_path / "s.toml")
    study.write_text(study.read_text("utf-8") + f'variant = "{variant}"\n', encoding="utf-8")
    succeed("run", study, "--out", tmp_path / "out", "--runs", "1")
    assert len(list((tmp_path / "out" / "figures").iterdir())) == 8
    assert {p.name for p in tmp_path.iterdir()} == {"s.toml", "out"}
    assert escape(variant) in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_a_title_hides_no_fact_of_the_provenance(tmp_path: Path) -> None:
    succeed("run", write_study(tmp_path / "s.toml", title="hreach"), "--out", tmp_path / "out", "--runs", "1")
    told = section((tmp_path / "out" / "report.html").read_text("utf-8"), "provenance")
    assert f"<dt>hreach</dt><dd>{hreach.__version__}, code " in told
    assert "seed 7" in told


NASTY = [EVIL, "[red]", "[/red]", ":warning:", "$x_{", "{0}", "\\\\["]


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw bars and colours as on a wide terminal."""
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)


def run_and_look(study: Path, out: Path) -> tuple[str, str, str]:
    """(page, output stream, error stream as plain lines) of a study that is run."""
    arguments = ["run", str(study), "--out", str(out), "--runs", "1"]
    result = CliRunner().invoke(cli.app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", result.stderr)
    return (out / "report.html").read_text("utf-8"), result.stdout, plain.replace("\r", "\n")


@pytest.mark.parametrize("text", NASTY)
def test_a_title_is_text_on_the_page_and_on_the_terminal(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch)
    page, shown, progress = run_and_look(write_study(tmp_path / "s.toml", title=text), tmp_path / "out")
    meant = text.replace("\\\\", "\\")
    assert foreign_scripts(page) == []
    assert f"<title>{escape(meant)}</title>" in page
    assert f"{meant}: done" in shown
    assert re.search(rf"^{re.escape(meant)} .*2/2", progress, re.MULTILINE)


@pytest.mark.parametrize("text", NASTY)
def test_a_label_is_text_on_the_page_and_on_the_terminal(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch)
    page, _, progress = run_and_look(write_study(tmp_path / "s.toml", label=text), tmp_path / "out")
    meant = text.replace("\\\\", "\\")
    assert foreign_scripts(page) == []
    assert f'<th scope="row" data-sort="{escape(meant)}">{escape(meant)}</th>' in page
    assert re.search(rf"^{re.escape(meant)} +\d\.\d{{4}} \(1 run\)\s*$", progress, re.MULTILINE)
    assert [row["algorithm"] for row in table(tmp_path / "out" / "tables" / "s.csv")] == [meant, "greedy"]


# --- bad input ---------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a good study, two bad ones and a regular file."""
    monkeypatch.chdir(tmp_path)
    good = write_study(tmp_path / "good.toml").read_text("utf-8")
    (tmp_path / "broken.toml").write_text("title = \n", encoding="utf-8")
    (tmp_path / "misspelt.toml").write_text(good.replace("domain_params", "domain_parms"), encoding="utf-8")
    (tmp_path / "file").write_text("a regular file", encoding="utf-8")
    return tmp_path


BAD = [
    ("reproduce chian --out out", ["study is 'chian'", "did you mean 'chain'?", "known: chain, "]),
    ("reproduce chain chian", ["study is 'chian'", "did you mean 'chain'?"]),
    ("run none.toml --out out", ["'none.toml'", "No such file"]),
    ("run broken.toml --out out", ["broken.toml", "line 1"]),
    ("run misspelt.toml --out out", ["misspelt.toml, line 3", "'domain_parms'", "did you mean 'domain_params'?"]),
    ("run good.toml --out file/below", ["out is 'file/below'", "folder that can be written"]),
    ("run good.toml --out file", ["out is 'file'", "folder that can be written"]),
    ("reproduce chain --out file/below", ["out is 'file/below'", "folder that can be written"]),
    ("run good.toml --out out --runs 0", ["--runs is 0", "at least 1"]),
    ("run good.toml --out out --runs=-3", ["--runs is -3", "at least 1"]),
    ("run good.toml --out out --jobs 0", ["--jobs is 0", "at least 1"]),
    ("reproduce chain --runs 0", ["--runs is 0", "at least 1"]),
    ("reproduce chain --jobs 0", ["--jobs is 0", "at least 1"]),
    ("reproduce chain --quick --runs 5", ["--runs is 5", "--quick"]),
    ("reproduce chain --quick --runs 0", ["--runs is 0"]),
]


@pytest.mark.parametrize(("line", "words"), BAD)
def test_bad_input_is_one_line_and_exit_code_2_and_nothing_is_written(
    line: str,
    words: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = content(folder)
    monkeypatch.setattr(sys, "argv", ["hreach", *line.split()])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    shown = capfd.readouterr()
    said = [s for s in shown.err.splitlines() if "compiling once" not in s]  # only where nothing was compiled before
    assert (stopped.value.code, shown.out, len(said)) == (2, "", 1)
    assert said[0].startswith("hreach: ")
    assert [word for word in words if word not in said[0]] == []
    assert content(folder) == before


def test_a_process_given_bad_input_shows_no_traceback(folder: Path) -> None:
    done = python("from hreach.cli import main; main()", "run", "misspelt.toml", "--out", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"hreach: misspelt\.toml, line 3: [^\n]+\.\n", done.stderr)
    assert not (folder / "out").exists()


@pytest.mark.parametrize("line", ["run good.toml", "run good.toml --out out --runs many", "reproduce --fast", "walk"])
def test_wrong_usage_is_exit_code_2_and_nothing_is_written(line: str, folder: Path) -> None:
    before = content(folder)
    result = CliRunner().invoke(cli.app, line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr
    assert content(folder) == before
