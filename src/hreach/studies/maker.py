"""Who computed a result: the code, the libraries that numbers pass through, and the machine."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

from hreach import __version__
from hreach.studies.code import code_digest

_LIBRARIES = ("numpy", "scipy", "numba", "gymnasium")


@cache
def maker() -> dict[str, str]:
    """This process, in words: hreach and its code, Python and libraries, the machine."""
    return {
        "hreach": f"{__version__}, code {code_digest()}",
        "Python": f"{platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in _LIBRARIES),
        "Machine": f"{platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} cores",
    }


def _processor() -> str:
    """The processor's name; Linux keeps it in a file, which `platform` does not read."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "processor unknown"
