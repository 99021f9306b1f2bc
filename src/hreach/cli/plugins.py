"""The command that begins a package of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def new_plugin(
    name: Annotated[str, typer.Argument(help="The package's name, such as my-lab.")],
    folder: Annotated[Path, typer.Option(help="Where its folder is made.")] = Path("."),
) -> None:
    """Write a small installable package with an agent, a domain and their tests, to begin your own with.

    Example: hreach new-plugin my-lab
    """
    from hreach.plugin_template import new_plugin as written

    for path in written(name, folder):
        print(path)
    print(f"next: pip install -e '{folder / name}[dev]' and pytest {folder / name}")
