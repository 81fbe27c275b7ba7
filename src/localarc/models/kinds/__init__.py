"""Kinds of prediction sets: intervals, labels, masks and rankings."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from localarc import validation
from localarc.models.kinds.base import SetKind
from localarc.models.kinds.intervals import IntervalKind, Sides
from localarc.models.kinds.labels import LabelKind, LabelScore
from localarc.models.kinds.members import MemberKind

KindName: TypeAlias = Literal[
    "auto",
    "symmetric",
    "asymmetric",
    "lower",
    "upper",
    "probability",
    "aps",
    "raps",
    "margin",
    "masks",
    "ranking",
    "top-k",
]


def kind_named(name: str, model: Any, classes: Any, difficulty: Any) -> SetKind:
    """The kind of that name; "auto" is by the model: labels for a classifier, else intervals."""
    if not isinstance(name, str):
        raise TypeError(f"kind must be one of {[*get_args(KindName)]}, got {name!r:.60}.")
    if name == "auto":
        name = "probability" if _classifies(model, classes) else "symmetric"
    if name in get_args(LabelScore):
        known = getattr(model, "classes_", None) if classes is None else classes
        names = None if known is None else validation.sequence("classes", known, "be labels")
        return LabelKind(name, None if names is None else tuple(names))  # type: ignore[arg-type]
    if name in get_args(Sides):
        return IntervalKind(name, difficulty)  # type: ignore[arg-type]
    if name in ("masks", "ranking", "top-k"):
        return MemberKind(name)  # type: ignore[arg-type]
    raise ValueError(f"kind must be one of {[*get_args(KindName)]}, got {name!r}.")


def _classifies(model: Any, classes: Any) -> bool:
    """Whether the model gives probabilities of labels; a classifier that cannot is rejected."""
    if classes is not None or hasattr(model, "predict_proba"):
        return True
    if hasattr(model, "classes_"):
        raise TypeError(
            f"{type(model).__name__} is a classifier without predict_proba, from which sets of "
            "labels are made. Wrap it in scikit-learn's CalibratedClassifierCV, or pass "
            "classes=... to Calibrated and prediction=... with every call."
        )
    return False


__all__ = ["IntervalKind", "KindName", "LabelKind", "MemberKind", "SetKind", "kind_named"]
