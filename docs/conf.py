"""Sphinx settings. Formulas are plain text, so the pages can be read without a network."""

from __future__ import annotations

import re

from hreach import __version__

project = "hreach"
author = project_copyright = "The hreach contributors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["code.css"]
html_title = f"hreach {__version__}"
html_copy_source = False
html_show_sphinx = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"
maximum_signature_line_length = 88


def plain_docstring(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text with formulas, not reStructuredText: show formulas and columns as they stand."""
    paragraphs = re.split(r"\n(?:[ ]*\n)+", "\n".join(lines).strip("\n"))
    lines[:] = "\n\n".join(_shown(p) for p in paragraphs).splitlines()


def _shown(paragraph: str) -> str:
    if re.match(r"\s|>>>", paragraph) or re.search(r"\S {2,}\S", paragraph):
        language = "pycon" if paragraph.startswith(">>>") else "text"
        return f".. code-block:: {language}\n\n" + "\n".join("    " + line for line in paragraph.splitlines())
    parts = re.split(r"`([^`]+)`", paragraph)
    escaped = (f"``{p}``" if i % 2 else re.sub(r"([\\*|_`])", r"\\\1", p) for i, p in enumerate(parts))
    return "".join(escaped)


def setup(app: object) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", plain_docstring)  # type: ignore[attr-defined]
