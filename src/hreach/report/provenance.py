"""What one needs to make the numbers of a page again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hreach.report.finished import Finished
from hreach.studies.maker import maker as this_maker
from hreach.studies.results import Result
from hreach.studies.spec import AgentSpec


def provenance(finished: Sequence[Finished]) -> Mapping[str, str]:
    """What computed the numbers, what drew them where that was another, and the settings of every row."""
    makers = [maker for done in finished for _, result in done.results for maker in result.makers]
    facts = {name: "\n".join(dict.fromkeys(m[name] for m in makers)) for name in this_maker() if makers}
    if any(maker != this_maker() for maker in makers):
        facts["Drawn by"] = "\n".join(f"{name} {value}" for name, value in this_maker().items())
    for done in finished:
        study = done.study
        shared = "".join(f"{k} = {v}, " for k, v in study.settings.items()).removesuffix(", ") or "no shared settings"
        facts[f"Study: {study.title}"] = (
            f"{done.size}, seed {study.seed}; "
            f"{shared}; time taken: {done.record.seconds:.1f} s\n" + "\n".join(_settings(*r) for r in done.results)
        )
    return facts


def _settings(spec: AgentSpec, result: Result) -> str:
    """One row's parameters, and whether its constants come from theory or were given by hand."""
    given = ", ".join(f"{k} = {v}" for k, v in spec.params.items())
    constants = ", ".join(f"{k} = {_short(v)}" for k, v in result.agent.get("constants", {}).items())
    variant = f" ({spec.variant})" if spec.variant else ""
    parts = [f"{spec.label}{variant}: {spec.agent}", f"with {given}" if given else ""]
    # What a linear agent estimates differs from run to run.
    origin = result.agent.get("origin", "")
    words = f"constants ({origin})" if result.by == "steps" else "at the end of the first run"
    parts.append(f"; {words}: {constants}" if constants else "")
    return " ".join(part for part in parts if part).replace(" ;", ";")


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else value if isinstance(value, str) else "per pair"
