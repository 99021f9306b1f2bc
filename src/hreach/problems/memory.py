"""Whether something fits into memory: asked before it is made, answered in one sentence with the size it needs."""

from __future__ import annotations

import os

from hreach.errors import InputError

UNKNOWN = 1 << 36  # bytes, where the system does not tell


def there() -> int:
    """Bytes of memory of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN


def require_memory(what: str, size: float, instead: str = "") -> None:
    """`InputError` if `size` bytes are more than this machine has; `instead` is a clause that says what to do."""
    have = there()
    if size > have:
        advice = f"; {instead}" if instead else ""
        raise InputError(
            f"{what} needs {size / 2**30:,.4g} GiB of memory, but must fit into the {have / 2**30:.3g} GiB of this "
            f"machine{advice}."
        )
