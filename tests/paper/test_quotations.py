"""What the studies call a claim of the paper is a sentence of it, and says so where it cannot fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from hreach.studies.loading import load, load_catalog
from hreach.studies.spec import Claim

# The paper's words on Figures 2 and 3 and its conclusion, without LaTeX.
PAPER = {
    'Experiments, "Mountain Car"': (
        "As in the discrete case, we can see that the PAC-RMDP(h) algorithm worked well. The best performance, in "
        "terms of the total reward, was achieved by PAC-RMDP(10). Since this problem required a number of consecutive "
        "explorations, the random exploration employed by the ε-greedy algorithm did not allow the agent to reach the "
        "goal. As a result of exploration and the randomness in the environment, the PAC-MDP algorithm reached the "
        "goal several times, but kept exploring the environment to ensure near-optimality. From Figure 2, we can see "
        "that the PAC-MDP algorithm quickly converges to good behavior if we discard the theoretical guarantee"
    ),
    'Experiments, "Simulated HIV Treatment"': (
        "As shown in Figure 3, the PAC-MDP algorithm worked reasonably well with ε = 30^10. However, the best total "
        "reward did not exceed 30^10, and so the PAC-MDP guarantee with ε = 30^10 does not seem to be useful. The "
        "ε-greedy algorithm did not work well, as this example required sequential exploration"
    ),
    "Conclusion": (
        "Although the PAC-RMDP(h) algorithms worked well in our experimental examples with small h, it is possible to "
        "devise a problem in which the PAC-RMDP algorithm should be used with large h."
    ),
}
STUDIES = ("mountain-car", "hiv", "hiv-deeper")
OWN = sorted((Path(__file__).parents[2] / "benchmarks").glob("*.toml"))
CLAIMS = [claim for name in STUDIES for claim in load_catalog(name).claim]
ALL = [*CLAIMS, *(claim for path in OWN for claim in load(path).claim)]


def quoted(claim: Claim) -> bool:
    """Whether its words, apart from what "…" leaves out, stand in this order where it says."""
    text, at = PAPER.get(claim.source, ""), 0
    for words in claim.text.split("…"):
        at = text.find(words.strip(), at)
        if at < 0:
            return False
    return True


@pytest.mark.parametrize("claim", [c for c in ALL if not c.ours], ids=lambda c: c.text)
def test_a_claim_with_a_source_is_a_quotation(claim: Claim) -> None:
    assert quoted(claim)


@pytest.mark.parametrize("claim", [c for c in ALL if c.ours], ids=lambda c: c.text)
def test_a_claim_of_ours_is_not(claim: Claim) -> None:
    for source in PAPER:
        assert not quoted(claim.model_copy(update={"source": source}))


def test_there_are_both() -> None:
    assert (sum(not c.ours for c in CLAIMS), sum(c.ours for c in CLAIMS)) == (11, 8)


def test_only_the_largest_total_of_hiv_cannot_fail() -> None:
    """30^10 is above the total of a patient with the most immune cells that the domain observes, on all 1000 days."""
    (cannot,) = (c for c in CLAIMS if c.cannot_fail)
    assert cannot.text == "the best total reward did not exceed 30^10"
    assert cannot.than == pytest.approx(30**10, rel=1e-4)
    assert cannot.possible == [-1.1e10, 1e14]
