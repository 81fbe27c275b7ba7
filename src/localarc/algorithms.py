"""The number of each learner's algorithm: which thresholds a state leads to.

A state's format says how it is read; this number says by whom it was made. A change after which a
learner computes other thresholds from the same rounds is counted in the parts that it touches, and
so raises the number of every learner that has one of them. States of lower numbers are still read:
their sums and what was promised stay, and the present algorithm goes on from there.
"""

from __future__ import annotations

CHANGES = {
    "running constant": 0,  # the constant of ARC and L-ARC, its rates and floors
    "local part": 0,  # kernels and memories
    "betting": 0,  # theorem E's bettors, hats, and the base that follows scores
    "label scores": 0,  # what LabelSets learns of each label
    "gate": 0,  # the base of a gate, and its promise
    "bands": 0,  # bettors and offsets by series and step
    "models": 0,  # what Calibrated tells its calibrators: features, scores, difficulty
}
"""How often each part has changed so that thresholds differ."""

PARTS = {
    "ARC": ("running constant",),
    "LARC": ("running constant", "local part"),
    "AutoLARC": ("betting",),
    "Safeguard": ("betting",),
    "LabelSets": ("betting", "label scores"),
    "Gate": ("betting", "gate"),
    "Bands": ("betting", "bands"),
    "Calibrated": ("betting", "label scores", "models"),
    "Mondrian": ("running constant", "local part", "betting"),  # it holds any of them
    "Panel": ("running constant", "local part", "betting"),  # as does this
}
"""What each learner is made of, by the kind that its state names."""


def number_of(kind: str) -> int:
    """The present number of a learner's algorithm, 1 for what learns nothing itself."""
    return 1 + sum(CHANGES[part] for part in PARTS.get(kind, ()))


class Algorithm:
    """The number as a read-only attribute of a learner's class."""

    def __get__(self, learner: object, kind: type) -> int:
        return number_of(kind.__name__)

    def __set__(self, learner: object, number: int) -> None:
        raise AttributeError("the number of an algorithm is that of its class: it cannot be set.")
