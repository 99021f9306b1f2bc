"""The open cell: what could the paper have run as MBIE(10^4, 0.2) on the chain, printed as .267 [.250, .285]?

Prints the average reward after 3000 steps (1000 runs) of MBIE-EB with the constants that the formulas give, for bare
counts or a uniform first model, with and without a cap at 20, ties at random or to the reset action.
"""

from __future__ import annotations

from itertools import product

import hreach
from hreach.optimism.mbie import known_threshold
from hreach.optimism.mbie_eb import bonus_constant

PRINTED = {(0.01, 0.1): 0.160, (20.0, 0.9): 0.160, (1e4, 0.2): 0.267}


def beta(actions: int, epsilon: float, delta: float) -> float:
    m = known_threshold(5, actions, 0.95, epsilon, delta, 1)
    return bonus_constant(5, actions, 0.95, m, delta, 1)


def main() -> None:
    print(f"no real beta with |A| = 2 at (1e4, 0.2): beta = {beta(2, 1e4, 0.2)}")
    print(f"{'MBIE':>12} {'beta':>7} {'prior':>5} {'cap':>5} {'ties':>7}   mean [10 %, 90 %]     printed mean")
    for prior, cap, ties in product((0, 1, 5), (None, 20.0), ([1, 0], "random")):
        for (epsilon, delta), printed in PRINTED.items():
            constant = beta(5, epsilon, delta)
            params = {"beta": constant, "prior": prior, "value_cap": cap, "ties": ties}
            runs = hreach.simulate("chain", "mbie-eb", params, runs=1000, steps=3000, seed=2016)
            name, how = f"{epsilon:g}, {delta:g}", "random" if ties == "random" else "reset"
            band = f"{runs.mean:.3f} [{runs.quantile(0.1):.3f}, {runs.quantile(0.9):.3f}]"
            print(f"{name:>12} {constant:7.3f} {prior:5} {cap or '-':>5} {how:>7}   {band}   {printed:.3f}")


if __name__ == "__main__":
    main()
