"""A finite MDP as an environment with a picture: Gymnasium's render mode "rgb_array"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hreach.domains.tabular import TabularEnv
from hreach.errors import require
from hreach.problems.mdp import TabularMDP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


class DrawnEnv(TabularEnv):
    """A `TabularEnv` that draws itself and where it is."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 8}  # noqa: RUF012 (Gymnasium's own type)

    def __init__(self, mdp: TabularMDP, known_reward: Array | None, render_mode: str | None) -> None:
        modes = self.metadata["render_modes"]
        require(render_mode is None or render_mode in modes, "render_mode", render_mode, f"None or one of {modes}")
        super().__init__(mdp, known_reward)
        self.render_mode = render_mode

    def figure(self, state: int | None = None) -> Figure:
        """A picture of the domain in this state, by default the present one."""
        raise NotImplementedError

    def render(self) -> NDArray[np.uint8] | None:
        """The picture as (height, width, 3) bytes; None unless `render_mode` is "rgb_array"."""
        if self.render_mode is None:
            return None
        from hreach.drawing.canvas import pixels

        return pixels(self.figure())
