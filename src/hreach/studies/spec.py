"""A study as data, field by field; `loading.py` reads it from a TOML file:

title  = "My study"
domain = "chain"               # a name of `hreach list`, "module:name", or an id that is registered with Gymnasium
domain_params = { length = 7 } # optional
steps  = 3000                  # or, where episodes end: episodes = 100
runs   = 1000
seed   = 0
plugins = ["mypackage.envs"]   # optional: modules to import first, such as one that registers environments

[settings]                     # optional: parameters that all agents share
gamma = 0.95

[[agent]]
agent  = "pac-rmdp"            # a name of `hreach list`, or "module:name"
params = { h = 8 }
grid   = { prior = [0, 1] }    # optional: a row for each value; of several lists, for each combination
algorithm = "PAC-RMDP(8)"      # optional: the label in tables and figures; "{prior}" in it is the value of the row

Several domains are tables, and the file is then one study for each (`expanding.py`):

[[domain]]
domain = "chain"
params = { length = 7 }        # optional, as is grid
label  = "seven states"        # optional: added to the title

A study may stop its rows before `runs` runs, without cheating (`until.py`):

until  = "ci_width < 0.005"    # when the mean of a row is known so well; or "ranked", when the order of all rows is
bounds = [0.0, 1.0]            # of what a run is measured by, where the domain does not tell it
marks  = 100                   # by steps: so many points of each run are kept

A study by `episodes` may also have

final_episodes = 5             # so many more at the end of each run, in which the model is acted on as it is
scale  = "log"                 # of the figure's totals; default "linear"

[[agent]]
reference = true               # a horizontal line with the mean total, not a curve
episodes  = 3                  # optional for a reference: fewer episodes than the curves have
picture   = true               # draw the last of run 0's final episodes

[[claim]]
text      = "PAC-RMDP(8) is better than greedy, and always gets there"
source    = "Section 5"        # where the paper says it; left out of a claim of your own
kind      = "greater"          # see `Claim`
statistic = "total"
algorithm = "PAC-RMDP(8)"
than      = "greedy"
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hreach.studies.results import MARKS

# The rewards of a run are held in memory, 8 bytes each (.8 GB), as are the totals of all runs of a row.
MAX_STEPS, MAX_EPISODES, MAX_RUNS = 10**8, 10**6, 10**6
MAX_ROWS = 10**5  # of all studies of a file together
MAX_MARKS = 10**5
Grid = dict[str, list[Any]]


class Strict(BaseModel):
    """Fields are what they say, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AgentSpec(Strict):
    """One agent of a study; `variant` groups rows, `note` says what is special about this one.

    In a study by episodes, a `reference` is drawn as a line to compare with (it has no final episodes, and may have a
    number of `episodes` of its own: an agent with nothing to learn needs few), and `picture` asks for a picture of the
    last episode without exploration.
    """

    agent: str
    params: dict[str, Any] = Field(default_factory=dict)
    algorithm: str = ""
    variant: str = ""
    note: str = ""
    reference: bool = False
    episodes: int | None = Field(default=None, ge=1, le=MAX_EPISODES)
    picture: bool = False

    @property
    def label(self) -> str:
        """What tables and figures call it."""
        inside = ", ".join(f"{k}={v}" for k, v in self.params.items())
        return self.algorithm or (f"{self.agent}({inside})" if inside else self.agent)


class Claim(Strict):
    """A statement about the runs, decided by the data of each variant on its own (`hreach.report.claims`).

    kind        "less", "greater"      the mean over runs of the statistic, against that of another algorithm
                                       (`times` its value) or against a number
                "best"                 "greater" than every other algorithm of the variant, or than those in `than`
                "at most", "at least"  the statistic of every single run, against a number
    statistic   of one run: "total", the mean total reward of its episodes; "last10", that of the last ten; "goals", how
                many episodes terminated; "final", the mean total reward of the final episodes
    algorithm, than   labels; if there are several, the claim is about all of them
    source      where the paper says it, in these words; "" is a claim of one's own
    possible    [low, high] of the statistic of any run, `because` of something that holds whatever the agent does; a
                claim that is true of all of it cannot fail, and is shown as such
    """

    text: str
    source: str = ""
    kind: Literal["less", "greater", "best", "at most", "at least"]
    statistic: Literal["total", "last10", "goals", "final"]
    algorithm: Any
    than: Any = None
    times: float = Field(default=1, gt=0, allow_inf_nan=False)
    possible: list[float] | None = None
    because: str = ""

    @property
    def ours(self) -> bool:
        """Whether it is no sentence of the paper."""
        return not self.source

    @property
    def cannot_fail(self) -> bool:
        """Whether it is true of every possible run."""
        if self.possible is None:
            return False
        low, high = self.possible
        if self.kind in ("at most", "less"):
            return bool(high < self.than or (high == self.than and self.kind == "at most"))
        return bool(low > self.than or (low == self.than and self.kind == "at least"))

    @property
    def algorithms(self) -> list[str]:
        """Labels of the rows that the claim is about."""
        return labels_of(self.algorithm)

    @property
    def rivals(self) -> list[str]:
        """Labels of the rows that they are compared with; none for a number."""
        return labels_of(self.than)


class Common(Strict):
    """What a study and a file of studies have alike.

    citation         whom to cite for it
    printed          the CSV of published numbers to compare with (of a study by steps)
    final_episodes   episodes after the last one of each run, in which the agent neither explores nor learns
    until            when a row may stop before `runs` runs: `hreach.studies.until`
    bounds           [low, high] of the statistic of any run that `until` looks at
    marks            so many points of each run by steps are kept
    plugins          modules to import before anything is made, also in worker processes
    """

    title: str
    citation: str = ""
    domain_params: dict[str, Any] = Field(default_factory=dict)
    text: str = ""
    steps: int | None = Field(default=None, ge=1, le=MAX_STEPS)
    episodes: int | None = Field(default=None, ge=1, le=MAX_EPISODES)
    final_episodes: int = Field(default=0, ge=0, le=MAX_EPISODES)
    runs: int = Field(ge=1, le=MAX_RUNS)
    seed: int = Field(ge=0)
    printed: str | None = None
    scale: Literal["linear", "log"] = "linear"
    settings: dict[str, Any] = Field(default_factory=dict)
    claim: list[Claim] = Field(default_factory=list)
    plugins: list[str] = Field(default_factory=list)
    until: str | None = None
    bounds: list[float] | None = None
    marks: int = Field(default=MARKS, ge=1, le=MAX_MARKS)


class GridRow(AgentSpec):
    """An `[[agent]]` table of a file: one row, or one for each combination of the values of its grid."""

    grid: Grid = Field(default_factory=dict)


class DomainRow(Strict):
    """A `[[domain]]` table of a file: one study, or one for each combination of the values of its grid."""

    domain: str
    params: dict[str, Any] = Field(default_factory=dict)
    grid: Grid = Field(default_factory=dict)
    label: str = ""
    bounds: list[float] | None = None


class StudyFile(Common):
    """What a TOML file says; `hreach.studies.expanding` makes studies of it."""

    domain: str | list[DomainRow]
    agent: list[GridRow] = Field(min_length=1)


class Study(Common):
    """Agents on one domain, for `steps` steps or for `episodes` episodes."""

    domain: str
    agent: list[AgentSpec] = Field(min_length=1)

    @property
    def variants(self) -> dict[str, list[AgentSpec]]:
        """The rows of each variant, in the order of the file."""
        names = dict.fromkeys(spec.variant for spec in self.agent)
        return {name: [spec for spec in self.agent if spec.variant == name] for name in names}

    def variants_with(self, claim: Claim) -> list[str]:
        """The variants that have all rows which a claim speaks of."""
        asked = {*claim.algorithms, *claim.rivals}
        return [name for name, rows in self.variants.items() if asked <= {spec.label for spec in rows}]

    def rivals_of(self, claim: Claim, variant: str) -> list[str]:
        """Labels of what a claim compares with: of "best", unless it says so itself, all rows but the references."""
        if claim.rivals or claim.kind != "best":
            return claim.rivals
        rows = [spec.label for spec in self.variants[variant] if not spec.reference]
        return [label for label in rows if label not in claim.algorithms]


def labels_of(value: object) -> list[str]:
    """A label, or a list of them, as a list; of a number nothing."""
    return [str(v) for v in value] if isinstance(value, list) else [value] if isinstance(value, str) else []
