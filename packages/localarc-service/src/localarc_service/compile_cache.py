"""Where the service keeps compiled loops: in its data folder, which outlives a container.

Loops that the image, the package or the user's cache folder have are read from there. If the
environment names a folder, `NUMBA_CACHE_DIR`, all loops go there and come from there instead.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

_NAMED = "NUMBA_CACHE_DIR"
_used: list[Path] = []


def use(folder: Path) -> None:
    """Store loops that this process and its children compile below a folder, from now on.

    Call it once, before the engine is imported.
    """
    if not os.environ.get(_NAMED):
        _used.append(folder)
        _put_first(folder)


def child_environment() -> dict[str, str]:
    """The environment of a process that compiles for this one."""
    return os.environ | ({_NAMED: str(_used[-1])} if _used else {})


def _put_first(folder: Path) -> None:
    from numba.core.caching import FunctionCache

    caches: Any = FunctionCache._impl_class
    named: Any = caches._locator_classes[0]

    class DataFolder(named):  # type: ignore[misc]
        """As numba's locator of `NUMBA_CACHE_DIR`, with another folder."""

        def __init__(self, function: Any, source: str) -> None:
            super().__init__(function, source)
            self._cache_path = str(folder / self.get_suitable_cache_subpath(source))

        @classmethod
        def from_function(cls, function: Any, source: str) -> Any:
            """A locator, whether or not `NUMBA_CACHE_DIR` is set."""
            return super(named, cls).from_function(function, source)

    caches._locator_classes = [DataFolder, *caches._locator_classes]
