"""Compiled loops on disk: read from any folder that has them, written where numba can write.

Numba uses the first folder that it can write to, and refuses to compile where there is none: in a
container whose file system is read-only, for example. Its folders are `NUMBA_CACHE_DIR`, the
`__pycache__` beside the source, and the user's cache folder.
"""

import functools
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numba import config
from numba.core.caching import FunctionCache, NullCache


@dataclass
class Activity:
    """How many compiled functions were found on disk, stored, or not stored; and where."""

    found: int = 0
    stored: int = 0
    not_stored: int = 0
    folders: set[str] = field(default_factory=set)


activity = Activity()
"""Of this process so far."""


class DiskCache(NullCache):
    """What numba asks when it is about to compile a function, and tells when it has.

    Folders that only others can write to are read too: an image may bring its loops along, and run
    as a user who can write nowhere, or only in an empty home. But where `NUMBA_CACHE_DIR` names a
    folder to write to, all loops go there and come from there.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._writer = _located(FunctionCache, function)
        others = [] if self._is_named() else _read_only_caches()
        caches = [self._writer, *(_located(kind, function) for kind in others)]
        self._readers = [cache for cache in caches if cache is not None]

    def _is_named(self) -> bool:
        """Whether the folder to write to is the one that the user named."""
        named: str = getattr(config, "CACHE_DIR", "")
        return bool(named) and (self.cache_path or "").startswith(named)

    @property
    def cache_path(self) -> str | None:
        """The folder that compiled code is written to; None where there is none."""
        return None if self._writer is None else str(self._writer.cache_path)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled function, from the first folder that has it."""
        for cache in self._readers:
            try:
                loaded = cache.load_overload(signature, context)
            except OSError:  # a folder that may not be read
                continue
            if loaded is not None:
                activity.found += 1
                activity.folders.add(str(cache.cache_path))
                return loaded
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store a compiled function; if that fails, the next process compiles it again."""
        try:
            if self._writer is None:
                raise PermissionError("no folder is writable")
            self._writer.save_overload(signature, compiled)
            activity.stored += 1
            activity.folders.add(str(self._writer.cache_path))
        except OSError as error:
            activity.not_stored += 1
            warn_not_stored(str(error))


@functools.cache
def _read_only_caches() -> list[Any]:
    """For each folder that numba knows, a cache that requires it to exist, not to be writable."""

    def require_folder(locator: Any) -> None:
        if not os.path.isdir(locator.get_cache_path()):
            raise FileNotFoundError(locator.get_cache_path())

    kinds = []
    for locator in FunctionCache._impl_class._locator_classes:
        readable = type(locator.__name__, (locator,), {"ensure_cache_path": require_folder})
        kind = type("Kind", (FunctionCache._impl_class,), {"_locator_classes": [readable]})
        kinds.append(type("ReadOnlyCache", (FunctionCache,), {"_impl_class": kind}))
    return kinds


def _located(kind: Any, function: Callable[..., Any]) -> Any:
    """A cache of that kind, or None where numba finds no folder for it."""
    try:
        return kind(function)
    except RuntimeError:  # numba: "cannot cache function ...: no locator available for file ..."
        return None


_warned: list[str] = []


def warn_not_stored(reason: str) -> None:
    """Log, once in this process, that the next one will compile again."""
    if not _warned:
        _warned.append(reason)
        logging.getLogger("localarc").warning(
            "compiled loops cannot be stored (%s): every process compiles them again, which takes "
            "seconds. Set NUMBA_CACHE_DIR to a writable folder, or fill it in advance with "
            "localarc warm-up.",
            reason,
        )
