"""Locked: a Calibrated model for several threads, such as those of a web server."""

from __future__ import annotations

import functools
import threading
from typing import Any

from localarc.models.calibrated import Calibrated


class Locked:
    """A Calibrated model that one thread uses at a time; the others wait.

    It has the methods and attributes of the model that it wraps. The model's own prediction runs
    inside the lock, too: pass `prediction=...` if it takes long.

    Parameters
    ----------
    model : Calibrated
        The model to share.

    Examples
    --------
    >>> import numpy as np
    >>> shared = Locked(Calibrated(lambda X: X[:, 0]))
    >>> _ = shared.update(np.zeros((20, 1)), np.arange(20.0))
    >>> shared.summary().levels[0].rows
    20
    """

    def __init__(self, model: Calibrated) -> None:
        if not isinstance(model, Calibrated):
            raise TypeError(f"model must be a Calibrated model, got {type(model).__name__}.")
        self._model = model
        self._lock = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        with self._lock:
            found = getattr(self._model, name)
        if not callable(found) or name in ("model", "difficulty"):
            return found

        @functools.wraps(found)
        def alone(*args: Any, **options: Any) -> Any:
            with self._lock:
                result = found(*args, **options)
            return self if result is self._model else result

        return alone

    def __repr__(self) -> str:
        return f"Locked({self._model!r})"
