"""Wrong input to a calibrated model: an error that names the argument, and nothing has changed."""

from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localarc.models import Calibrated

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(30, 2))
Y = X[:, 0] + RNG.normal(size=30)
RAGGED = [[1.0, 2.0], [3.0]]
NO_ROWS: tuple[Any, ...] = (None, 1.0, nan, "text", b"text", {}, {"a": [1.0]}, {1.0}, object(), len)
NOT_NUMBERS: tuple[Any, ...] = (
    "text",
    object(),
    1.0,
    inf,
    nan,
    [nan] * 3,
    ["a"] * 3,
    [1.0],
    RAGGED,
)
NOT_IDS: tuple[Any, ...] = (None, "text", 1.0, nan, 99, -1, 2**70, [1, 1], RAGGED, object(), {})
NO_ROW: tuple[Any, ...] = (None, 1.0, "text", [1.0], {}, X[:1], object())


def first_column(rows: Any) -> Any:
    return np.asarray(rows)[:, 0]


def calibrated() -> Calibrated:
    model = Calibrated(first_column, coverage=0.8, local=[0])
    model.update(X, Y).ask(X[:2])
    return model


CALLS: dict[str, dict[str, tuple[Any, tuple[Any, ...]]]] = {
    "predict": {"X": (X[:3], NO_ROWS)},
    "predict_interval": {"X": (X[:3], NO_ROWS), "prediction": (None, NOT_NUMBERS)},
    "update": {"X": (X[:3], NO_ROWS), "y": (Y[:3], NOT_NUMBERS)},
    "warm_up": {"X": (X[:3], NO_ROWS), "y": (Y[:3], NOT_NUMBERS)},
    "ask": {"X": (X[:3], NO_ROWS), "prediction": (None, NOT_NUMBERS)},
    "tell": {"ids": ([1], NOT_IDS), "y": ([0.5], (*NOT_NUMBERS[:-2], RAGGED))},
    "forget": {"ids": ([1], NOT_IDS)},
    "predict_one": {"x": ({"a": 0.1, "b": 0.2}, NO_ROW)},
    "learn_one": {"x": ({"a": 0.1, "b": 0.2}, NO_ROW), "y": (0.5, ("text", nan, [], object()))},
}


@pytest.mark.parametrize("method", CALLS)
def test_a_call_with_wrong_input_changes_nothing(method: str, tmp_path: Path) -> None:
    model, file = calibrated(), tmp_path / "model"

    def stored() -> bytes:
        model.save(file)
        return file.read_bytes()

    before, call = stored(), CALLS[method]
    good = {name: value for name, (value, _) in call.items()}
    for name, (_, values) in call.items():
        for value in values:
            with pytest.raises((TypeError, ValueError, LookupError)) as raised:
                getattr(model, method)(**{**good, name: value})
            assert not isinstance(raised.value, KeyError | IndexError), f"{name}={value!r}"
            said = str(raised.value)
            assert any(word in said for word in ("must", "need", "is not pending")), said
            assert stored() == before, f"{name}={value!r}"


SETTINGS: dict[str, tuple[tuple[Any, ...], str]] = {
    "coverage": (("text", nan, 0.0, 1.0, [], RAGGED, [[0.5]], [0.9, 0.5], None), "coverage must"),
    "local": ((1, nan, object(), "column"), "local must be"),
    "groups": ((1, nan, object(), "column"), "groups must be"),
    "kind": ((1, nan, object(), "text", None), "kind must be one of"),
    "per_class": (("no", None, nan, [], 2), "per_class must be True or False"),
    "cyclic": (("text", 24, [("hour", 24)], object()), "cyclic must map columns to periods"),
    "classes": ((1, "ab", {"a", "b"}, object()), "classes must be"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_first_use_names_the_wrong_setting(setting: str) -> None:
    values, words = SETTINGS[setting]
    for value in values:
        with pytest.raises((TypeError, ValueError), match=words):
            Calibrated(first_column, **{setting: value}).update(X, Y)


def test_a_column_that_no_float_can_be_is_named_where_it_is_used_and_ignored_elsewhere() -> None:
    rows = [[10**400, 0.5], [1, 0.7]]
    model = Calibrated(lambda given: np.zeros(len(given)), coverage=0.8)
    model.update(rows, [0.0, 0.1])
    local = Calibrated(lambda given: np.zeros(len(given)), coverage=0.8, local=[0])
    with pytest.raises(TypeError, match="column 0 must have numbers: int too large"):
        local.update(rows, [0.0, 0.1])


def test_an_error_of_the_model_says_that_it_is_the_model_s() -> None:
    def failing(rows: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as raised:
        Calibrated(failing).update(X, Y)
    assert "The model raised this" in raised.value.__notes__[0]


@pytest.mark.parametrize("call", [lambda m: m.predict(X), lambda m: m.update(X, Y)])
def test_a_model_must_predict_or_be_a_function(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="must have predict or be a function, got dict"):
        call(Calibrated({}))  # type: ignore[arg-type]
