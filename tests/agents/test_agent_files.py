"""A saved state is read by this version and by all later ones, and by programs that have only NumPy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hreach
from hreach import InputError
from hreach.agents.files import FORMAT, load_agent, read_agent, save_agent
from hreach.agents.tables import TableAgent

FIXTURES = Path(__file__).parent / "states"


def chain_agent(seed: int = 0) -> TableAgent:
    made: TableAgent = hreach.make_agent("pac-rmdp", hreach.make_domain("chain"), h=8, seed=seed)
    return made


@pytest.mark.parametrize("version", range(1, FORMAT + 1))
def test_a_state_of_every_format_is_read(version: int) -> None:
    """The files were written by the version that began the format, and are never made anew.

    They hold an agent after 200 steps and, as `about["next"]`, the 50 actions that it then took.
    """
    agent = chain_agent()
    about = load_agent(agent, FIXTURES / f"format-{version}.npz")
    run = hreach.run(hreach.make_domain("chain"), agent, 50, seed=4)
    assert agent.model.samples == 250
    assert run.actions.tolist() == about["next"]
    assert len(set(about["next"])) == 2


def test_what_is_saved_goes_on_as_it_would_have(tmp_path: Path) -> None:
    env, agent = hreach.make_domain("chain"), chain_agent()
    hreach.run(env, agent, 300)
    save_agent(agent, tmp_path / "agent.npz", {"states": list("abcde")})
    other = chain_agent(seed=3)
    about = load_agent(other, tmp_path / "agent.npz")
    assert about["states"] == list("abcde")
    assert about["agent"] == json.loads(json.dumps(agent.describe()))
    one, two = (hreach.run(env, each, 100, seed=1) for each in (agent, other))
    assert np.array_equal(one.actions, two.actions)


def test_it_is_read_without_hreach(tmp_path: Path) -> None:
    agent = chain_agent()
    hreach.run(hreach.make_domain("chain"), agent, 300)
    save_agent(agent, tmp_path / "agent.npz")
    code = (
        "import json, sys, numpy as np; sys.modules['hreach'] = None\n"
        "with np.load(sys.argv[1], allow_pickle=False) as f:\n"
        "    about, agent = (json.loads(str(f[name])) for name in ('about', 'agent'))\n"
        "    print(about['format'], agent['gamma'], f['model.counts'].sum())"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code, tmp_path / "agent.npz"], capture_output=True, text=True)
    assert done.stdout.split() == [str(FORMAT), "0.95", "310.0"], done.stderr


def test_what_is_no_state_is_one_sentence(tmp_path: Path) -> None:
    agent = chain_agent()
    save_agent(agent, tmp_path / "agent.npz")
    arrays, about = read_agent(tmp_path / "agent.npz")
    path = tmp_path / "other.npz"
    for said, message in (
        (json.dumps({**about, "format": FORMAT + 1}), f"format of .* is {FORMAT + 1}, but must be at most {FORMAT}"),
        (json.dumps({**about, "format": "1"}), "format of .* is '1', but must be at most"),
        ("{", "cannot be read as the saved state of an agent"),
        ("[]", "cannot be read as the saved state of an agent"),
    ):
        np.savez(path, about=np.array(said), **arrays)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=message):
            load_agent(agent, path)
    path.write_bytes((tmp_path / "agent.npz").read_bytes()[:500])
    with pytest.raises(InputError, match="cannot be read as the saved state of an agent"):
        load_agent(agent, path)
    with pytest.raises(InputError, match=r"file is .*, but must be one that ends in \.npz"):
        save_agent(agent, tmp_path / "agent.json")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["agent.npz", "other.npz"]


def test_a_state_without_words_about_it_is_read(tmp_path: Path) -> None:
    """What `numpy.savez(path, **agent.state_dict())` writes."""
    agent = chain_agent()
    np.savez(tmp_path / "agent.npz", **agent.state_dict())  # type: ignore[arg-type]
    assert load_agent(chain_agent(), tmp_path / "agent.npz") == {"format": 1}
