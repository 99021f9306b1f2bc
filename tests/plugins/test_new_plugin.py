"""The package that `hreach new-plugin` writes passes its own tests, as it is."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from helpers import succeed
from hreach import InputError
from hreach.plugin_template import new_plugin


def install(package: Path, site: Path) -> None:
    """What pip leaves of a package, as far as it matters: where it is, its name and its entry points."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    site.mkdir()
    (site / "it.pth").write_text(str(package / "src"))
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        f"[{group}]\n" + "\n".join(f"{name} = {target}" for name, target in points.items())
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))


def test_it_passes_its_own_tests_as_it_is(tmp_path: Path) -> None:
    said = succeed("new-plugin", "my-lab", "--folder", tmp_path)
    package, site = tmp_path / "my-lab", tmp_path / "site"
    assert sorted(said.split("next:")[0].split()) == sorted(str(p) for p in package.rglob("*") if p.is_file())
    install(package, site)
    env = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{package / 'src'}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(package)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=package)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
    listed = subprocess.run([sys.executable, "-m", "hreach", "list"], capture_output=True, text=True, env=env)
    assert "my-lab-corridor" in listed.stdout
    broken = package / "src" / "my_lab" / "domain.py"  # the wrong twin: a domain that does not do what it says
    broken.write_text(broken.read_text().replace("P[s, AHEAD, s] += slip", "P[s, AHEAD, 0] += slip"))
    domain = "def step(self, action):\n        return super().step(0)\n"
    broken.write_text(broken.read_text() + f"\n    {domain}")
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=package)
    assert done.returncode == 1
    assert "test_the_domain" in done.stdout


@pytest.mark.parametrize("name", ["My-Lab", "1lab", "my_lab", "class", "hreach", "-lab", "lab-", "", "../lab"])
def test_a_name_that_cannot_be_one_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"name is .*, but must be lower-case letters and digits, with dashes"):
        new_plugin(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    new_plugin("my-lab", Path())
    with pytest.raises(InputError, match=r"folder is 'my-lab', but must be a new one"):
        new_plugin("my-lab", Path())
    with pytest.raises(InputError, match=r"folder is 'nowhere', but must be one that exists"):
        new_plugin("my-lab", Path("nowhere"))
    assert [path.name for path in tmp_path.iterdir()] == ["my-lab"]
