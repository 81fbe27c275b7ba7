"""The role of a calibrator: a threshold now, an update when the loss is known."""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from localarc import atomic_write, serialization, validation
from localarc.guarantees import Certificate, Evidence
from localarc.memory import LossCurves
from localarc.validation import FloatArray

Progress = Callable[[int], None]


class Calibrator(ABC):
    """Answers each input with a threshold and learns from the loss of the set that it made."""

    alpha: float
    uses_groups = False  # whether the group has to be passed with each call

    @abstractmethod
    def threshold(self, x: Any) -> Any:
        """The threshold for one input, or n thresholds for an (n, d) array; changes nothing."""

    @abstractmethod
    def update(self, x: Any, loss: float) -> Self:
        """Learn the loss of one round."""

    @abstractmethod
    def follow(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Go through rounds whose curves are known; thresholds and losses, as step by step."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """How many losses were learnt."""

    @property
    @abstractmethod
    def loss_bound(self) -> float:
        """The largest loss that a round may have."""

    @property
    @abstractmethod
    def averaged_threshold_function(self) -> Any:
        """The time-averaged threshold function, `(1/T) sum_t g_t`, callable on (n, d)."""

    @property
    @abstractmethod
    def threshold_function(self) -> Any:
        """The threshold function of the next round, callable on (n, d)."""

    @abstractmethod
    def certificate(
        self,
        outstanding: int = 0,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate:
        """What can be promised about the mean loss."""

    @abstractmethod
    def reset(self) -> Self:
        """Forget everything learnt."""

    @abstractmethod
    def state(self) -> bytes:
        """All of the calibrator, to be stored."""

    @classmethod
    @abstractmethod
    def from_state(cls, data: bytes) -> Self:
        """The calibrator whose `state` this was."""
        raise TypeError("load a state with the class that saved it, e.g. LARC.load(path).")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, all of it or nothing."""
        atomic_write.write(path, self.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str], **functions: Any) -> Self:
        """Read a saved state; functions that were part of it are handed in again by keyword."""
        data = serialization.read(path)
        try:
            return cls.from_state(data, **functions)
        except serialization.StateError as error:
            raise serialization.StateError(f"{path}: {error}") from error

    def predict_one(self, x: Any) -> float:
        """The threshold for one input (river's name for `threshold`)."""
        return float(self.threshold(x))

    def learn_one(self, x: Any, loss: float) -> Self:
        """Learn the loss of one round (river's name for `update`)."""
        return self.update(x, loss)

    def partial_fit(self, X: ArrayLike, losses: ArrayLike) -> Self:
        """Learn many losses, in order (scikit-learn's name); all of them or, if bad, none."""
        at, costs = validation.points(X), validation.numbers("losses", losses).reshape(-1)
        if len(at) != len(costs):
            raise ValueError(
                f"losses must hold one number per row of X, got {len(costs)} for {len(at)} rows."
            )
        with self.unchanged_on_failure():
            for t, (x, loss) in enumerate(zip(at, costs, strict=True)):
                try:
                    self.update(x, loss)
                except (TypeError, ValueError) as error:
                    error.add_note(f"in row {t}, counted from 0; nothing was learnt.")
                    raise
        return self

    @contextlib.contextmanager
    def unchanged_on_failure(self) -> Iterator[None]:
        """What is learnt inside is forgotten if anything fails inside."""
        before = self.snapshot()
        try:
            yield
        except BaseException:
            self.go_back(before)
            raise

    @abstractmethod
    def snapshot(self) -> Any:
        """A copy of all that was learnt, for `go_back`."""

    @abstractmethod
    def go_back(self, snapshot: Any) -> None:
        """Forget what was learnt since the snapshot."""

    @abstractmethod
    def restore(self, data: bytes) -> Self:
        """Take over a state that was saved with the same settings."""


@dataclass(frozen=True)
class ThresholdFunction:
    """A threshold for every input: a local part, clipped where a clip is set, plus a constant."""

    constant: float
    local: Callable[[FloatArray], FloatArray] | None = None
    dimension: int | None = None
    clip: float | None = None

    def __call__(self, x: Any) -> Any:
        """The threshold for one input, or n thresholds for an (n, d) array."""
        one = validation.is_single(x)
        if self.local is None:
            return self.constant if one else np.full(len(np.asarray(x)), self.constant)
        at = (
            validation.point(x, self.dimension)[None]
            if one
            else validation.points(x, self.dimension)
        )
        values = self.constant + clipped(self.local(at), self.clip)
        return float(values[0]) if one else values


def clipped(local: FloatArray, clip: float | None) -> FloatArray:
    """The local part, kept within [-clip, clip] if there is a clip."""
    return local if clip is None else np.clip(local, -clip, clip)
