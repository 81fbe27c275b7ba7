"""Saving and loading: everything goes on bit for bit, and damage is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from localarc import AutoLARC, serialization
from localarc.models import Calibrated
from localarc.serialization import StateError

RANDOM = np.random.default_rng(0)
N = 60
X = RANDOM.uniform(0, 10, (N, 2))
Y = X[:, 0] + RANDOM.normal(0, 1 + X[:, 0])
P = RANDOM.dirichlet(np.ones(4), N)
LABELS = np.array([RANDOM.choice(4, p=p) for p in P])
ITEMS = RANDOM.uniform(0, 1, (N, 6))
TRUE = (RANDOM.uniform(size=ITEMS.shape) < ITEMS).astype(float)
TRUE[:, 0] = 1.0
RAGGED, TRUE_RAGGED = ([row[: 3 + t % 3] for t, row in enumerate(table)] for table in (ITEMS, TRUE))


def first(rows: Any) -> Any:
    return np.asarray(rows)[:, 0].astype(float)


def size(rows: Any) -> Any:
    return 0.5 + first(rows)


Case = tuple[dict[str, Any], Any, Any]  # settings, predictions, outcomes
LEVELS = [0.5, 0.8]
CASES: dict[str, Case] = {
    "symmetric": ({}, X[:, 0], Y),
    "levels": ({"coverage": LEVELS}, X[:, 0], Y),
    "quantiles": ({"kind": "asymmetric"}, np.column_stack([Y - 3, Y + 2]), Y),
    "labels": ({"classes": range(4)}, P, LABELS),
    "per class": ({"coverage": LEVELS, "classes": range(4), "per_class": True}, P, LABELS),
    "masks": ({"coverage": 0.8, "kind": "masks"}, ITEMS, TRUE),
    "ragged masks": ({"coverage": LEVELS, "kind": "masks"}, RAGGED, TRUE_RAGGED),
    "top-k": ({"kind": "top-k"}, RAGGED, TRUE_RAGGED),
}
PLACES: dict[str, dict[str, Any]] = {
    "prediction": {},
    "columns": {"local": [0], "groups": [np.int64(1)], "cyclic": {0: np.float64(24)}},
}


def play(m: Calibrated, case: Case, start: int, stop: int) -> None:
    """Rows by update and by ticket, some of which stay pending."""
    _, predictions, outcomes = case
    grouped = np.column_stack([X[:, 0], np.arange(N) % 3])
    for t in range(start, stop, 4):
        part = slice(t, t + 2)
        m.update(grouped[part], outcomes[part], prediction=predictions[part])
        batch = m.ask(grouped[t + 2 : t + 4], prediction=predictions[t + 2 : t + 4])
        m.tell(batch.ids[1], outcomes[t + 3])


def state_of(m: Calibrated, folder: Path) -> bytes:
    m.save(folder / "state")
    return (folder / "state").read_bytes()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::localarc.models.FewOutcomesWarning")
@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES.keys())
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_loaded_model_goes_on_bit_for_bit(case: Case, places: Any, tmp_path: Path) -> None:
    m = Calibrated(None, **case[0], **places)
    play(m, case, 0, 40)
    m.save(tmp_path / "file")
    other = Calibrated.load(tmp_path / "file", None)
    assert state_of(other, tmp_path) == state_of(m, tmp_path)
    for one in (m, other):
        play(one, case, 40, 60)
        one.tell(one.pending[:5], case[2][2:22:4])
        one.forget(one.pending[0])
    assert state_of(other, tmp_path) == state_of(m, tmp_path)
    np.testing.assert_equal(other.summary(), m.summary())


@pytest.mark.filterwarnings("ignore::localarc.models.FewOutcomesWarning")
def test_settings_of_numpy_come_back_as_they_were_meant(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "coverage": (np.float32(0.5), np.float64(0.75)),
        "local": np.array([0, 1]),
        "cyclic": {np.int64(1): np.float64(5.0)},
        "groups": np.array([1]),
    }
    m = Calibrated(first, **settings).update(X, Y)
    m.save(tmp_path / "file")
    other = Calibrated.load(tmp_path / "file", first)
    assert other.coverage == [0.5, 0.75]
    assert other.cyclic == {1: 5.0}
    for one, two in zip(m.predict_interval(X), other.predict_interval(X), strict=True):
        np.testing.assert_array_equal(one, two)


def test_categories_of_text_are_stored(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": ["x", "y", None] * 20})
    m = Calibrated(lambda X: np.zeros(len(X)), local=["a"]).warm_up(table, Y)
    m.save(tmp_path / "file")
    other = Calibrated.load(tmp_path / "file", m.model)
    np.testing.assert_array_equal(
        other.predict_interval(table[:1]).lower, m.predict_interval(table[:1]).lower
    )


def test_a_fitted_difficulty_is_handed_in_again(tmp_path: Path) -> None:
    m = Calibrated(first, difficulty=LinearRegression()).warm_up(X, Y)
    m.save(tmp_path / "file")
    other = Calibrated.load(tmp_path / "file", first, m.difficulty_)
    np.testing.assert_array_equal(other.predict_interval(X).upper, m.predict_interval(X).upper)
    with pytest.raises(ValueError, match="difficulty_"):
        Calibrated.load(tmp_path / "file", first, LinearRegression())
    with pytest.raises(ValueError, match="with a difficulty"):
        Calibrated.load(tmp_path / "file", first)


@pytest.mark.filterwarnings("ignore::localarc.models.FewOutcomesWarning")
@pytest.mark.parametrize("case", [CASES["levels"], CASES["per class"]], ids=["levels", "per class"])
def test_a_damaged_file_is_named_as_such(case: Case, tmp_path: Path) -> None:
    m = Calibrated(None, **case[0])
    play(m, case, 0, 20)
    data = state_of(m, tmp_path)
    for cut in (0, 7, len(data) // 2, len(data) - 1):
        (tmp_path / "cut").write_bytes(data[:cut])
        with pytest.raises(StateError):
            Calibrated.load(tmp_path / "cut", None)
    for at in range(0, len(data), len(data) // 50):
        (tmp_path / "bad").write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(StateError):
            Calibrated.load(tmp_path / "bad", None)


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    AutoLARC(0.1).save(tmp_path / "file")
    with pytest.raises(StateError, match="AutoLARC"):
        Calibrated.load(tmp_path / "file", None)


@pytest.mark.filterwarnings("ignore::localarc.models.FewOutcomesWarning")
@pytest.mark.parametrize(
    "spoil",
    [
        lambda content, arrays: content["settings"].pop("kind"),
        lambda content, arrays: content["settings"].update(unknown=1),
        lambda content, arrays: content["settings"].update(coverage=2.0),
        lambda content, arrays: content.update(calibrators=1),
        lambda content, arrays: content.update(shapes=content["shapes"][1:]),
        lambda content, arrays: arrays.update(ids=arrays["ids"] + 1000),
        lambda content, arrays: arrays.update(ids=arrays["ids"][:1].repeat(len(arrays["ids"]))),
        lambda content, arrays: arrays.update(outputs=arrays["outputs"][:-1]),
        lambda content, arrays: arrays.update(sizes=arrays["sizes"][:, :1]),
    ],
)
def test_a_state_that_does_not_fit_together_is_damaged(spoil: Any, tmp_path: Path) -> None:
    m = Calibrated(None, **CASES["levels"][0])
    play(m, CASES["levels"], 0, 20)
    kind, content, arrays = serialization.decode(state_of(m, tmp_path))
    arrays = dict(arrays)
    spoil(content, arrays)
    (tmp_path / "bad").write_bytes(serialization.encode(kind, content, arrays))
    with pytest.raises(StateError):
        Calibrated.load(tmp_path / "bad", None)


def test_loading_nothing_learned_is_a_new_model(tmp_path: Path) -> None:
    Calibrated(None, 0.8, classes=["a", "b"], per_class=True).save(tmp_path / "file")
    other = Calibrated.load(tmp_path / "file", None)
    other.update(X[:20], ["a"] * 20, prediction=np.tile([0.7, 0.3], (20, 1)))
    assert other.summary().levels[0].outcomes == 20
