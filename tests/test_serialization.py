import copy
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import CALIBRATORS as MAKE
from examples import side, sparse, stream
from localarc import (
    ARC,
    LARC,
    RBF,
    Dictionary,
    KeepAll,
    KeepLast,
    Lattice,
    Mondrian,
    replay,
    serialization,
)
from localarc.calibrators.base import BaseCalibrator
from localarc.curves import miscoverage
from localarc.kernels import Custom
from localarc.serialization import StateError

NAMES = [name for name in MAKE if "Python" not in name and "groups" not in name]
CALIBRATORS = [
    *(MAKE[name](loss_bound=2.0) for name in NAMES),
    Mondrian(lambda: LARC(0.1, RBF.from_paper(1.0)), group_of=side),
]
READ_INPUTS = [cal for cal in CALIBRATORS if not isinstance(cal, ARC)]
BAD_CALLS = [
    ([0.0, 0.0], float("nan")),
    ([0.0, 0.0], float("inf")),
    ([0.0, 0.0], -1e-9),
    ([0.0, 0.0], 2.1),
    ([0.0, 0.0], "0.5 apples"),
    ([0.0, 0.0], None),
    ([0.0, 0.0], [0.5, 0.5]),
    ([np.nan, 0.0], 0.5),
    ([0.0, np.inf], 0.5),
    ([0.0], 0.5),
    ([0.0, 0.0, 0.0], 0.5),
    ([], 0.5),
    ([[0.0, 0.0]], 0.5),
    (["a", "b"], 0.5),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("calibrator", "call"), sparse(CALIBRATORS[2:] + CALIBRATORS[:2], BAD_CALLS)
)
def test_a_failed_update_leaves_the_state_as_it_was(
    calibrator: BaseCalibrator, call: tuple[Any, Any]
) -> None:
    x, loss = call
    cal = copy.deepcopy(calibrator)
    cal.update([0.1, 0.2], 0.5).update([-0.3, 0.1], 0.0)
    before = cal.state()
    reads_inputs = not isinstance(cal, ARC)
    if reads_inputs or not isinstance(loss, float) or not 0 <= loss <= 2:
        with pytest.raises((TypeError, ValueError, IndexError)):
            cal.update(x, loss)
    assert cal.state() == before


@pytest.mark.slow
@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
@pytest.mark.parametrize("X", [[[np.nan, 0.0]], [[0.0], [1.0]], np.zeros((2, 2, 2)), [["a", "b"]]])
def test_a_failed_replay_or_fit_leaves_the_state_as_it_was(
    calibrator: BaseCalibrator, X: Any
) -> None:
    cal = copy.deepcopy(calibrator).update([0.1, 0.2], 0.5)
    before = cal.state()
    with pytest.raises((TypeError, ValueError)):
        replay(cal, X, miscoverage([0.5, 0.5, 0.5]))
    with pytest.raises((TypeError, ValueError)):
        cal.partial_fit(X, [0.5, 0.5, 0.5])
    assert cal.state() == before


@pytest.mark.parametrize("calibrator", READ_INPUTS, ids=repr)
def test_a_replay_with_other_features_is_rejected(calibrator: BaseCalibrator) -> None:
    cal = copy.deepcopy(calibrator).update([0.1, 0.2], 0.5)
    before = cal.state()
    for d in (1, 3):
        with pytest.raises(ValueError, match="feature"):
            replay(cal, np.full((4, d), 0.5), miscoverage(np.ones(4)))
    assert cal.state() == before


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
@settings(max_examples=8, derandomize=True, deadline=None)
@given(stop=st.integers(0, 60))
def test_a_saved_state_resumes_bit_for_bit(
    calibrator: BaseCalibrator, stop: int, tmp_path_factory: Any
) -> None:
    X, curves = stream(60)
    cal = copy.deepcopy(calibrator)
    replay(cal, X[:stop], curves.take(slice(0, stop)))
    path = tmp_path_factory.mktemp("state") / "file"
    cal.save(path)
    functions = {"group_of": lambda x: bool(x[0] > 0)} if isinstance(cal, Mondrian) else {}
    twin = type(cal).load(path, **functions)
    rest = curves.take(slice(stop, 60))
    runs = [replay(each, X[stop:], rest) for each in (cal, twin)]
    assert np.array_equal(runs[0].thresholds, runs[1].thresholds)
    assert cal.state() == twin.state()
    assert repr(cal) == repr(twin)


def test_what_is_read_back_is_what_was_written() -> None:
    arrays = {"b": np.arange(6.0).reshape(2, 3), "a": np.array([1, 2], dtype=np.int64)}
    kind, content, back = serialization.decode(
        serialization.encode("Thing", {"x": [1, None, "é"]}, arrays)
    )
    assert (kind, content) == ("Thing", {"x": [1, None, "é"]})
    for name, array in arrays.items():
        assert np.array_equal(back[name], array)
        assert back[name].dtype == array.dtype


def test_a_state_cut_short_or_edited_anywhere_is_rejected() -> None:
    data = LARC(0.1, RBF.from_paper(1.0)).update([0.0], 1.0).state()
    for length in range(len(data)):
        with pytest.raises(StateError):
            LARC.from_state(data[:length])
    for at in range(0, len(data), 3):
        edited = bytearray(data)
        edited[at] ^= 1
        with pytest.raises(StateError):
            LARC.from_state(bytes(edited))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is not a localarc state"),
        (b"PK\x03\x04 a zip file", "is not a localarc state"),
        (b"LOCALARC", "is damaged"),
    ],
)
def test_a_foreign_file_is_rejected_in_one_sentence(
    data: bytes, words: str, tmp_path: Path
) -> None:
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(StateError, match=words):
        ARC.load(tmp_path / "f")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="nowhere does not exist"):
        ARC.load(tmp_path / "nowhere")


def test_a_later_format_names_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(serialization, "VERSION", 99)
        data = ARC(0.1).state()
    with pytest.raises(StateError, match="format version 99, this localarc reads 2"):
        ARC.from_state(data)


def test_the_wrong_class_names_the_right_one() -> None:
    with pytest.raises(StateError, match=r"kind ARC, not LARC. Load it with ARC.load"):
        LARC.from_state(ARC(0.1).state())
    with pytest.raises(StateError, match="kind ARC, not Mondrian"):
        Mondrian.from_state(ARC(0.1).state())


def test_functions_are_not_stored_and_have_to_be_passed_again() -> None:
    def kernel(X: Any, z: Any) -> Any:
        return np.exp(-((X - z) ** 2).sum(axis=1))

    def rate(t: int) -> float:
        return 1.0 / (t + 1)

    cal = LARC(0.1, Custom(kernel, scale=1.0), rate).update([0.0], 1.0)
    with pytest.raises(StateError, match=r"'.*kernel' in its kernel.*load\(path, kernel="):
        LARC.from_state(cal.state())
    twin = LARC.from_state(cal.state(), kernel=Custom(kernel, scale=1.0), rate=rate)
    assert twin.state() == cal.state()
    assert twin.threshold([0.3]) == cal.threshold([0.3])


def test_restore_wants_the_same_settings() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0)).update([0.0], 1.0)
    other = LARC(0.1, RBF.from_paper(2.0)).update([1.0], 0.0)
    before = other.state()
    with pytest.raises(StateError, match="other settings"):
        other.restore(cal.state())
    assert other.state() == before


def far_tiles(arrays: Any) -> None:
    arrays["pages"][1:, 3:] *= 10**11


def lost_nodes(arrays: Any) -> None:
    arrays["nodes"] = arrays["nodes"][:2]


def wide_rule(arrays: Any) -> None:
    arrays["rule"][1] = 120


def coarse_rule(arrays: Any) -> None:
    arrays["rule"][:] = 0.7, 2


def early_window(arrays: Any) -> None:
    arrays["first"] = np.array(-1000)


def lost_weights(arrays: Any) -> None:
    arrays["weights"] = arrays["weights"][:-1]


def full_buffer(arrays: Any) -> None:
    arrays["buffer"] = np.zeros((len(arrays["buffer"]), 256))


def many_atoms(arrays: Any) -> None:
    arrays["atoms"] = np.zeros((2000, 2))


@pytest.mark.parametrize(
    ("memory", "damage"),
    [
        *((Lattice(1e-8), each) for each in (far_tiles, lost_nodes, wide_rule, coarse_rule)),
        *((KeepAll(), each) for each in (early_window, lost_weights)),
        *((Dictionary(1e-4), each) for each in (full_buffer, many_atoms)),
    ],
    ids=lambda case: getattr(case, "__name__", repr(case)),
)
def test_a_sealed_state_that_does_not_fit_is_rejected_and_nothing_changes(
    memory: Any, damage: Callable[[Any], None]
) -> None:
    cal = LARC(0.1, RBF.from_paper(1.0), memory=memory).update([0.3, 0.2], 1.0)
    before = cal.state()
    kind, content, arrays = serialization.decode(before)
    changed = {name: array.copy() for name, array in arrays.items()}
    damage(changed)
    data = serialization.encode(kind, content, changed)
    with pytest.raises(ValueError, match=r"the state is damaged, .*: go back to an earlier copy"):
        LARC.from_state(data)
    with pytest.raises(ValueError, match="the state is damaged"):
        cal.restore(data)
    assert cal.state() == before


@pytest.mark.parametrize(
    "memory", [KeepAll(), KeepLast(3), Lattice(1e-8), Dictionary(1e-4), "auto"], ids=repr
)
def test_a_calibrator_can_be_sent_to_another_process(memory: Any) -> None:
    cal = LARC(0.1, RBF.from_paper(1.0), memory=memory)
    for loss in (1.0, 0.0, 1.0):
        sent, copied = pickle.loads(pickle.dumps(cal)), copy.deepcopy(cal)
        for each in (cal, sent, copied):
            each.update([0.3, loss], loss)
        assert sent.state() == copied.state() == cal.state()


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cal"
    ARC(0.1).save(path)
    before = path.read_bytes()

    def no_space(handle: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="no space left"):
        ARC(0.2).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["cal"]
