"""Gymnasium finds the domains in whichever order it and hreach are imported, and `import hreach` does not import it."""

from __future__ import annotations

import subprocess
import sys

import pytest

IDS = "sorted(name for name in gymnasium.registry if name.startswith('hreach/'))"
ALL = [
    "hreach/Chain-v0",
    "hreach/DeepSea-v0",
    "hreach/Garnet-v0",
    "hreach/Gridworld-v0",
    "hreach/HIV-v0",
    "hreach/ModifiedChain-v0",
    "hreach/MountainCar-v0",
]
ALL += ["hreach/RiverSwim-v0", "hreach/SixArms-v0", "hreach/Taxi-v0"]


def python(code: str) -> str:
    """What a fresh interpreter prints; a warning is an error."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


ORDERS = [
    "import gymnasium; import hreach",
    "import hreach; import gymnasium",
    "import hreach; import gymnasium.envs.registration; import gymnasium",
    "import hreach; hreach.make_domain('chain'); import gymnasium",
    "import hreach; import hreach.domains; import gymnasium; import hreach.domains.chain",
]


@pytest.mark.parametrize("imports", ORDERS)
def test_in_any_order_of_imports_gymnasium_finds_every_domain(imports: str) -> None:
    code = f"{imports}; print({IDS}); print(gymnasium.make('hreach/Chain-v0').unwrapped.mdp().states)"
    assert python(code).splitlines() == [str(ALL), "5"]


def test_gymnasium_alone_does_not_know_them() -> None:
    """The twin of the test above."""
    assert python(f"import gymnasium; print({IDS})") == "[]"


@pytest.mark.parametrize("command", ["import hreach", "from hreach.cli.listing import everything; everything()"])
def test_neither_gymnasium_nor_numpy_is_imported_before_it_is_needed(command: str) -> None:
    code = f"{command}; import sys; print([name for name in ('gymnasium', 'numpy', 'numba') if name in sys.modules])"
    assert python(code) == "[]"


def test_the_finder_steps_aside_and_leaves_other_imports_alone() -> None:
    code = "import sys; before = list(sys.meta_path); import hreach; print(len(sys.meta_path) - len(before)); "
    code += "import colorsys, gymnasium; print(sys.meta_path == before); "
    code += "print(sys.modules['gymnasium.envs.registration'].__spec__.loader.__class__.__name__)"
    assert python(code).splitlines() == ["1", "True", "SourceFileLoader"]
