"""Inputs of a gate: numbers are features, texts are topics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation

Input: TypeAlias = ArrayLike | Sequence[object] | None
"""What a round is about: numbers and texts, NaN or None where one is missing."""


def numbers_and_texts(
    x: Any, texts: tuple[bool, ...] | None
) -> tuple[Any, list[str], tuple[bool, ...] | None]:
    """The numbers of an input, its texts, and which of its positions are texts.

    `texts` says which were in the first input; a position keeps its kind.
    """
    if x is None or isinstance(x, str):
        values: list[Any] = [] if x is None else [x]
    elif isinstance(x, list | tuple) or (isinstance(x, np.ndarray) and x.dtype.kind in "OU"):
        values = list(x)
    else:
        return x, [], texts  # numbers only
    kinds = tuple(isinstance(value, str) for value in values)
    if texts is None or not any(texts):
        _require_none(kinds, texts, values)
        texts = kinds
    elif len(kinds) != len(texts):
        raise ValueError(
            f"x must have {len(texts)} values, as the first one had, got {len(kinds)}."
        )
    numbers = [value for value, is_text in zip(values, texts, strict=True) if not is_text]
    words = [value for value, is_text in zip(values, texts, strict=True) if is_text]
    _check(numbers, words, values)
    return [math.nan if v is None else v for v in numbers], [w for w in words if _there(w)], texts


def _require_none(kinds: tuple[bool, ...], texts: Any, values: list[Any]) -> None:
    if texts is not None and any(kinds):
        raise ValueError(
            f"x had no text in the first round, got {validation.shown(values)}. Pass text in the "
            "same places of every x, or as groups."
        )


def _check(numbers: list[Any], words: list[Any], values: list[Any]) -> None:
    mixed = any(isinstance(v, str) for v in numbers)
    if mixed or not all(isinstance(word, str) or not _there(word) for word in words):
        raise ValueError(
            f"x must have text where the first x had text, and numbers elsewhere, got "
            f"{validation.shown(values)}. Pass None for a value that is missing."
        )


def _there(word: Any) -> bool:
    return word is not None and word == word


def confidence_of(value: Any) -> float:
    """A confidence: a number in [0, 1]."""
    hint = "It is how sure the model is, e.g. the probability of its answer."
    number = validation.finite("confidence", value, hint)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"confidence must lie in [0, 1], got {number}. {hint}")
    return number


def outcome_of(wrong: Any) -> bool:
    """Whether an answer was wrong."""
    if isinstance(wrong, bool | np.bool_) or (isinstance(wrong, int | float) and wrong in (0, 1)):
        return bool(wrong)
    raise ValueError(
        f"wrong must be True or False, got {validation.shown(wrong)}. Call forget(id) for an "
        "answer whose outcome will never be known."
    )
