"""Candidate labels of one round: their scores, and tickets for labels that arrive late."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.engine.auto import layout
from localarc.validation import LARGEST, FloatArray, IntArray

Scores: TypeAlias = Mapping[Any, float] | ArrayLike
"""The scores of one round's candidates: {label: score}, or an array in the order of `labels`."""


@dataclass(frozen=True, slots=True)
class LabelTicket:
    """The thresholds of a round whose label is still to come, one per candidate.

    `LabelSets` issues them: `ticket = cal.ask(x, scores)`, later `cal.tell(ticket, label)`.

    Parameters
    ----------
    id : int
        The number of the ticket, counted from 1. It can be stored in place of the ticket.
    thresholds : mapping
        The threshold of each candidate label.
    labels : tuple
        The prediction set: the labels whose score is at most their threshold.

    Examples
    --------
    >>> from localarc import LabelSets
    >>> cal = LabelSets(alpha=0.1)
    >>> ticket = cal.ask(None, {"cat": 0.2, "dog": 0.7})
    >>> ticket.labels  # nothing is excluded before scores are known
    ('cat', 'dog')
    """

    id: int
    thresholds: Mapping[Hashable, float]
    labels: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """A pending round: by candidate its score, the keys of its nodes, and what was decided."""

    labels: tuple[Hashable, ...]
    scores: FloatArray
    keys: IntArray  # (n, groups)
    decisions: FloatArray  # (n, TICKET)

    @property
    def is_uninformed(self) -> bool:
        """Whether nothing was known that could exclude a label."""
        return bool(self.decisions[0, layout.GIVEN] == np.inf)

    def ticket(self, number: int) -> LabelTicket:
        """What the caller sees of it."""
        thresholds = self.decisions[:, layout.THRESHOLD]
        by_label = dict(zip(self.labels, thresholds.tolist(), strict=True))
        covered = np.flatnonzero(self.scores <= thresholds)
        return LabelTicket(
            number, MappingProxyType(by_label), tuple(self.labels[i] for i in covered)
        )


def checked_label(label: Any) -> Hashable:
    """A label: text or a number."""
    found = label.item() if isinstance(label, np.generic) else label
    finite = not isinstance(found, float) or math.isfinite(found)
    if not isinstance(found, str | int | float) or not finite:
        raise ValueError(f"a label must be text or a number, got {validation.shown(label)}.")
    return found


def checked_labels(labels: Sequence[Any] | None) -> tuple[Hashable, ...] | None:
    """Distinct labels, in the order in which arrays have their scores."""
    if labels is None:
        return None
    if isinstance(labels, str):
        raise ValueError(f"labels must be a sequence of labels, got the text {labels!r:.60}.")
    names = tuple(map(checked_label, validation.sequence("labels", labels, "be labels")))
    if not names or len({*names}) != len(names):
        raise ValueError(f"labels must be distinct, and at least one, got {names!r:.200}.")
    return names


def checked_scores(scores: Scores, labels: tuple[Hashable, ...] | None) -> dict[Hashable, float]:
    """The scores of a round, by label."""
    if isinstance(scores, Mapping):
        if not scores:
            raise ValueError("scores must have at least one candidate label, got none.")
        return {checked_label(label): _score(label, value) for label, value in scores.items()}
    if labels is None:
        raise ValueError(
            "scores must be {label: score} unless LabelSets was constructed with labels=[...], "
            f"which says what the numbers of an array belong to, got {validation.shown(scores)}."
        )
    values = validation.floats("scores", scores)
    if values.shape != (len(labels),):
        raise ValueError(
            f"scores must have one number for each of the {len(labels)} labels, got shape "
            f"{values.shape}."
        )
    return {name: _score(name, value) for name, value in zip(labels, values.tolist(), strict=True)}


def _score(label: Any, value: Any) -> float:
    if type(value) is float and abs(value) <= LARGEST:
        return value
    name, hint = f"the score of label {label!r:.60}", "Lower scores are more plausible."
    number = validation.real(name, value, hint)
    if math.isnan(number) or LARGEST < abs(number) < math.inf:
        raise ValueError(
            f"{name} must be a number of at most {LARGEST:g} in magnitude, or infinity for a label "
            f"that the model excludes, got {number}. {hint}"
        )
    return number
