"""A panel is a calibrator for each key, to the last bit."""

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localarc import (
    ARC,
    LARC,
    RBF,
    Constant,
    Dictionary,
    KeepAll,
    KeepLast,
    Laplace,
    Lattice,
    Mondrian,
    Panel,
    Power,
)
from localarc.curves import Curves, miscoverage
from localarc.kernels import Custom
from localarc.serialization import StateError


def bump(X: Any, z: Any) -> Any:
    return np.exp(-((X - z) ** 2).sum(axis=1))


def slowly(t: int) -> float:
    return float((1.0 + t) ** -0.6)


PROTOTYPES: dict[str, ARC | LARC] = {
    "ARC": ARC(0.1),
    "ARC, power": ARC(0.3, Power(0.5, 0.7), initial_threshold=0.3),
    "ARC, constant": ARC(0.2, Constant(0.05)),
    "ARC, function": ARC(0.2, slowly),
    "exact": LARC(0.2, RBF.from_paper(1.0), memory=KeepAll()),
    "exact, late start": LARC(0.2, RBF.from_paper(1.0), memory=KeepAll(), initial_threshold=0.7),
    "lattice, late start": LARC(0.2, RBF.from_paper(1.0), initial_threshold=0.7, clip=0.1),
    "exact, strong decay": LARC(0.2, Laplace(1.0), Constant(0.5), 0.9, memory=KeepAll()),
    "lattice": LARC(0.2, RBF.from_paper((1.0, 2.0))),
    "dictionary": LARC(0.2, Laplace(1.0), memory=Dictionary(1e-2, 16)),
    "window": LARC(0.2, RBF.from_paper(1.0), Constant(0.1), memory=KeepLast(9)),
    "window, no archive": LARC(0.2, RBF.from_paper(1.0), memory=KeepLast(3, archive=False)),
    "ball": LARC(0.2, RBF.from_paper(1.0), memory=KeepAll(), radius=0.4, clip=0.3),
    "in Python": LARC(0.2, Custom(bump, scale=1.0), regularization=0.1),
}
COMPILED_FIRST = ("dictionary", "exact, strong decay")  # with a kernel that nothing else here has
every_prototype = pytest.mark.parametrize(
    "prototype",
    [
        pytest.param(made, id=name, marks=[pytest.mark.slow] if name in COMPILED_FIRST else [])
        for name, made in PROTOTYPES.items()
    ],
)
NAMES: list[str | int] = ["ann", "bob", "", "ünï", 0, 1, -5, "1", 2**70]


class OneByOne:
    """The contract: an ordinary calibrator for each key."""

    def __init__(self, prototype: ARC | LARC) -> None:
        self.prototype = prototype
        self.calibrators: dict[Any, ARC | LARC] = {}

    def of(self, key: Any) -> ARC | LARC:
        return self.calibrators.setdefault(key, copy.deepcopy(self.prototype))

    def thresholds(self, keys: list[Any], X: Any) -> list[float]:
        fresh = copy.deepcopy(self.prototype)
        return [self.calibrators.get(k, fresh).threshold(x) for k, x in zip(keys, X, strict=True)]

    def update(self, keys: list[Any], X: Any, losses: Any) -> None:
        for key, x, loss in zip(keys, X, losses, strict=True):
            self.of(key).update(x, float(loss))

    def replay(self, keys: list[Any], X: Any, curves: Curves) -> tuple[list[float], list[float]]:
        thresholds, losses = [], []
        for t, (key, x) in enumerate(zip(keys, X, strict=True)):
            thresholds.append(self.of(key).threshold(x))
            losses.append(curves.loss_at(t, thresholds[-1]))
            self.of(key).update(x, losses[-1])
        return thresholds, losses


def events(seed: int, n: int = 60, names: list[Any] = NAMES) -> tuple[list[Any], Any, Curves, Any]:
    random = np.random.default_rng(seed)
    keys = [names[i] for i in random.integers(0, len(names), n)]
    scores = np.abs(random.normal(size=n))
    return keys, random.normal(size=(n, 2)), miscoverage(scores, widths=0.0), random.uniform(size=n)


def assert_equal(panel: Panel, alone: OneByOne) -> None:
    assert panel.keys == list(alone.calibrators)
    for key, calibrator in alone.calibrators.items():
        assert panel.calibrator(key).state() == calibrator.state()


@every_prototype
def test_a_panel_is_a_calibrator_for_each_key_to_the_last_bit(prototype: ARC | LARC) -> None:
    panel, alone = Panel(prototype), OneByOne(prototype)
    for seed in range(4):
        keys, X, curves, losses = events(seed)
        assert panel.thresholds(keys, X).tolist() == alone.thresholds(keys, X)
        record = panel.replay(keys, X, curves)
        thresholds, incurred = alone.replay(keys, X, curves)
        assert record.thresholds.tolist() == thresholds
        assert record.losses.tolist() == incurred
        assert record.groups == tuple(keys)
        panel.update(keys, X, losses)
        alone.update(keys, X, losses)
    assert_equal(panel, alone)


BATCHES = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(NAMES),
            st.floats(-3.0, 3.0),
            st.floats(0.0, 1.0),
            st.floats(-2.0, 2.0),
        ),
        max_size=12,
    ),
    max_size=6,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ARC", "ARC, power", "ARC, function", "exact", "window"])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(batches=BATCHES, replayed=st.lists(st.booleans(), min_size=6, max_size=6))
def test_a_panel_equals_separate_calibrators_for_any_events_in_any_batches(
    name: str, batches: list[Any], replayed: list[bool]
) -> None:
    prototype = PROTOTYPES[name]
    panel, alone = Panel(prototype), OneByOne(prototype)
    for batch, known in zip(batches, replayed, strict=False):
        keys, places, losses, scores = (list(c) for c in zip(*batch, strict=True)) if batch else (
            [[]] * 4
        )  # fmt: skip
        X = np.array(places, dtype=np.float64).reshape(-1, 1)
        if known:
            record = panel.replay(keys, X, miscoverage(scores))
            thresholds, _ = alone.replay(keys, X, miscoverage(scores))
            assert record.thresholds.tolist() == thresholds
        else:
            panel.update(keys, X, losses)
            alone.update(keys, X, losses)
    assert_equal(panel, alone)


@pytest.mark.slow
@pytest.mark.parametrize(
    "memory",
    [
        KeepAll(),
        KeepLast(9),
        KeepLast(9, archive=False),
        KeepLast(300, archive=False),
        KeepLast(1, archive=False),
    ],
    ids=repr,
)
@pytest.mark.parametrize("regularization", [1e-4, 0.5])
def test_long_streams_stay_equal_as_terms_fill_tiles_and_leave_them(
    memory: Any, regularization: float
) -> None:
    prototype = LARC(0.2, RBF.from_paper(1.0), Constant(0.5), regularization, memory=memory)
    panel, alone = Panel(prototype), OneByOne(prototype)
    for seed in range(3):
        keys, X, curves, _ = events(seed, 500, ["a", "b"])
        record = panel.replay(keys, X, curves)
        assert record.thresholds.tolist() == alone.replay(keys, X, curves)[0]
        panel = Panel.from_state(panel.state())
    panel.put("a", copy.deepcopy(prototype))
    alone.calibrators["a"] = copy.deepcopy(prototype)
    keys, X, curves, _ = events(9, 500, ["b", "a", "c"])  # in the places that "a" left
    panel.replay(keys, X, curves)
    alone.replay(keys, X, curves)
    assert_equal(panel, alone)


@every_prototype
def test_splitting_events_into_calls_changes_nothing(prototype: ARC | LARC) -> None:
    keys, X, curves, _ = events(3)
    whole, cut = Panel(prototype), Panel(prototype)
    whole.replay(keys, X, curves)
    for start, stop in ((0, 1), (1, 30), (30, 30), (30, 60)):
        cut.replay(keys[start:stop], X[start:stop], curves.take(slice(start, stop)))
    assert cut.state() == whole.state()


@every_prototype
def test_a_panel_resumes_bit_for_bit(prototype: ARC | LARC) -> None:
    panel = Panel(prototype)
    panel.replay(*events(1)[:3])
    handed = prototype if "function" in repr(prototype) else None
    twin = Panel.from_state(panel.state(), handed)
    assert twin.state() == panel.state()
    twin = twin.restore(panel.state())
    for each in (panel, twin):
        each.update(*events(2)[:2], events(2)[3])
        each.update(["new"], [[0.0, 0.0]], [1.0])
    assert twin.state() == panel.state()


def test_a_panel_is_saved_and_loaded(tmp_path: Any) -> None:
    panel = Panel(ARC(0.1)).update(["a", 7], None, [1.0, 0.5])
    panel.save(tmp_path / "panel")
    assert Panel.load(tmp_path / "panel").state() == panel.state()
    with pytest.raises(StateError, match="kind ARC, not Panel"):
        Panel.from_state(ARC(0.1).state())
    damaged = bytearray(panel.state())
    damaged[-40] ^= 1
    with pytest.raises(StateError, match="damaged"):
        Panel.from_state(bytes(damaged))
    with pytest.raises(StateError, match="missing does not exist"):
        Panel.load(tmp_path / "missing")


def test_a_panel_state_of_version_2_resumes_with_the_same_thresholds() -> None:
    stored = Path(__file__).parents[2] / "golden" / "states_v2"
    expected = json.loads((stored / "panel.json").read_text())
    panel = Panel.load(stored / "panel.bin")
    assert panel.keys == expected["keys"]
    assert panel.rounds.tolist() == expected["rounds"]
    queries = expected["queries"], expected["X"]
    assert panel.thresholds(*queries).tolist() == expected["thresholds"]
    panel.update(**expected["update"])
    assert panel.thresholds(*queries).tolist() == expected["thresholds_after_update"]
    upgraded = Panel.from_state(panel.state())
    assert upgraded.thresholds(*queries).tolist() == expected["thresholds_after_update"]


@pytest.mark.parametrize("name", ["ARC, function", "exact", "lattice"])
def test_a_panel_can_be_copied_and_sent_to_another_process(name: str) -> None:
    panel = Panel(PROTOTYPES[name])
    panel.replay(*events(1)[:3])
    before = panel.state()
    copied, sent = copy.deepcopy(panel), pickle.loads(pickle.dumps(panel))
    panel.replay(*events(2)[:3])
    assert copied.state() == sent.state() == before
    copied.replay(*events(2)[:3])
    assert copied.state() == panel.state()


def test_a_state_with_functions_requires_a_prototype() -> None:
    panel = Panel(ARC(0.2, slowly)).update(["a"], None, [1.0])
    with pytest.raises(StateError, match="slowly"):
        Panel.from_state(panel.state())
    with pytest.raises(StateError, match="other settings"):
        Panel.from_state(panel.state(), ARC(0.3, slowly))
    assert Panel.from_state(panel.state(), ARC(0.2, slowly)).state() == panel.state()


@every_prototype
def test_a_calibrator_that_is_put_in_comes_out_and_resumes(prototype: ARC | LARC) -> None:
    keys, X, curves, losses = events(5)
    alone = OneByOne(prototype)
    alone.replay(keys, X, curves)
    panel = Panel(prototype)
    for key, calibrator in alone.calibrators.items():
        panel.put(key, calibrator)
    panel.update(keys, X, losses)  # must not reach the calibrators that were put in
    alone.update(keys, X, losses)
    assert_equal(panel, alone)
    apart = panel.calibrator(keys[0])
    before = apart.state()
    panel.update(keys, X, losses)
    assert apart.state() == before


@every_prototype
def test_dropping_a_key_removes_that_key_alone(prototype: ARC | LARC) -> None:
    panel, alone = Panel(prototype), OneByOne(prototype)
    for seed in range(2):
        keys, X, curves, _ = events(seed)
        panel.replay(keys, X, curves)
        alone.replay(keys, X, curves)
        for key in ("ann", 1, -5)[seed : seed + 2]:
            panel.drop([key])
            del alone.calibrators[key]
        assert_equal(panel, alone)
    keys, X, curves, losses = events(2)
    panel.update(keys, X, losses)
    alone.update(keys, X, losses)
    assert_equal(panel, alone)


def test_dropping_an_unknown_key_drops_nothing() -> None:
    panel = Panel(ARC(0.1)).update(["a", "b"], None, [1.0, 0.0])
    before = panel.state()
    with pytest.raises(KeyError, match="'c'"):
        panel.drop(["a", "c"])
    assert panel.state() == before
    assert len(panel.drop(["b", "a"])) == 0
    assert panel.update(["b"], None, [1.0]).keys == ["b"]


def test_a_calibrator_can_be_replaced() -> None:
    prototype = PROTOTYPES["exact"]
    panel = Panel(prototype).update(["a", "a"], [[0.0, 1.0], [1.0, 0.0]], [1.0, 0.0])
    panel.put("a", copy.deepcopy(prototype))
    assert panel.calibrator("a").state() == prototype.state()
    assert Panel.from_state(panel.state()).calibrator("a").state() == prototype.state()


def test_every_key_has_its_certificate() -> None:
    panel = Panel(ARC(0.1, score_range=(0.0, 1.0)))
    panel.update(["a", "b", "a"], None, [1.0, 0.0, 0.0])
    certificate = panel.certificate("a", losses=[1.0, 0.0])
    assert certificate.rounds == 2
    assert certificate.risk == 0.5
    assert certificate.consistent
    assert not panel.certificate("a", losses=[1.0]).consistent
    with pytest.raises(KeyError, match="'c'"):
        panel.certificate("c")


def test_evidence_of_some_records_is_not_enough_for_a_bound() -> None:
    panel = Panel(ARC(0.2))
    first, second = (panel.replay(*events(seed)[:3]).evidence for seed in (1, 2))
    assert panel.certificate("ann", evidence=first + second).bound.holds
    doubtful = panel.certificate("ann", evidence=second)
    assert not doubtful.bound.holds
    assert "covers 60 of 120 rounds" in str(doubtful)


def test_columns_follow_the_order_of_keys() -> None:
    panel = Panel(ARC(0.1, Constant(1.0))).update(["b", 1, "b"], None, [1.0, 0.0, 0.0])
    assert panel.keys == ["b", 1]
    assert panel.rounds.tolist() == [2, 1]
    assert panel.risks.tolist() == [0.5, 0.0]
    assert panel.constants.tolist() == panel.thresholds(["b", 1]).tolist()
    assert panel.rounds_of([1, "1", "b"]).tolist() == [1, 0, 2]
    assert "b" in panel
    assert "1" not in panel
    assert len(panel) == 2


def test_numpy_and_pandas_keys_are_stored_as_python_values() -> None:
    import pandas

    panel = Panel(ARC(0.1)).update(np.array([3, 4]), None, [1.0, 0.0])
    panel.update(pandas.Series(["a", "b"]), None, [1.0, 0.0])
    panel.update([np.int64(3), np.str_("a")], None, [0.0, 0.0])
    assert panel.keys == [3, 4, "a", "b"]
    assert panel.rounds.tolist() == [2, 1, 2, 1]


def test_an_arc_key_costs_a_hundred_bytes() -> None:
    panel = Panel(ARC(0.1)).update([f"customer-{i:06}" for i in range(2000)], None, np.zeros(2000))
    assert len(panel.state()) / len(panel) < 100


def test_read_only_inputs_are_accepted() -> None:
    keys, X, curves, _ = events(6)
    frozen = X.copy()
    frozen.flags.writeable = False
    one, two = Panel(PROTOTYPES["exact"]), Panel(PROTOTYPES["exact"])
    one.replay(keys, frozen, curves)
    two.replay(keys, X, curves)
    assert one.state() == two.state()


NAN = float("nan")
FAR = 1e18  # farther than a lattice reaches
BAD: dict[str, Callable[[Panel], Any]] = {
    "NaN loss": lambda p: p.update(["a", "z"], [[0, 0], [1, 1]], [0.0, np.nan]),
    "loss too large": lambda p: p.update(["a", "z"], [[0, 0], [1, 1]], [0.0, 1.5]),
    "too few losses": lambda p: p.update(["a", "z"], [[0, 0], [1, 1]], [0.0]),
    "NaN input": lambda p: p.update(["a", "z"], [[0.0, 0.0], [1.0, NAN]], [0.0, 1.0]),
    "other features": lambda p: p.update(["a", "z"], [[0], [1]], [0.0, 1.0]),
    "too few inputs": lambda p: p.update(["a", "z"], [[0, 0]], [0.0, 1.0]),
    "no inputs": lambda p: p.update(["a", "z"], None, [0.0, 1.0]),
    "out of reach": lambda p: p.update(
        ["z", "a", "z"], [[0.0, 0.0], [1.0, 1.0], [FAR, 0.0]], [0.0] * 3
    ),
    "replay out of reach": lambda p: p.replay(
        ["z", "a", "z"], [[0.0, 0.0], [1.0, 1.0], [FAR, 0.0]], miscoverage([0.1] * 3)
    ),
    "key None": lambda p: p.update(["a", None], [[0, 0], [1, 1]], [0.0, 1.0]),
    "key NaN": lambda p: p.update(["a", np.nan], [[0, 0], [1, 1]], [0.0, 1.0]),
    "key True": lambda p: p.update(["a", True], [[0, 0], [1, 1]], [0.0, 1.0]),
    "one text": lambda p: p.update("az", [[0, 0], [1, 1]], [0.0, 1.0]),
    "too few curves": lambda p: p.replay(["a", "z"], [[0, 0], [1, 1]], miscoverage([0.1])),
    "curves too costly": lambda p: p.replay(["a"], [[0, 0]], miscoverage([0.1], bound=2.0)),
    "no curves": lambda p: p.replay(["a"], [[0, 0]], [0.1]),  # type: ignore[arg-type]
    "foreign calibrator": lambda p: p.put("z", LARC(0.3, RBF.from_paper(1.0))),
    "calibrator of others": lambda p: p.put(
        "z", copy.deepcopy(p.prototype).update(np.array([1.0]), 0.0)
    ),
}


@pytest.mark.parametrize(
    ("name", "memory"),
    [
        *((name, Lattice()) for name in BAD),
        *((name, KeepAll()) for name in BAD if "reach" not in name),  # terms reach everywhere
    ],
)
def test_a_failed_call_leaves_the_panel_as_it_was(name: str, memory: Any) -> None:
    bad = BAD[name]
    panel = Panel(LARC(0.2, RBF.from_paper(1.0), memory=memory))
    panel.update(["a", "b"], [[0.0, 0.1], [1.0, 0.2]], [1.0, 0.0])
    before, twin = panel.state(), Panel.from_state(panel.state())
    with pytest.raises((TypeError, ValueError)):
        bad(panel)
    assert panel.state() == before
    for each in (panel, twin):
        each.update(["z", "a"], [[0.0, 0.0], [0.5, 0.5]], [1.0, 0.0])
    assert panel.state() == twin.state()


def test_a_rate_that_fails_late_leaves_the_panel_as_it_was() -> None:
    def breaks(t: int) -> float:
        return 1.0 if t < 4 else 2.0

    panel = Panel(ARC(0.1, breaks)).update(["a"] * 3, None, [1.0] * 3)
    before = panel.state()
    with pytest.raises(ValueError, match="must not increase"):
        panel.update(["b", "a"], None, [1.0, 1.0])
    assert panel.state() == before


@pytest.mark.parametrize(
    "prototype", [Mondrian(lambda: ARC(0.1)), ARC(0.1).update(None, 1.0), ARC, None]
)
def test_a_prototype_is_a_new_arc_larc_or_autolarc(prototype: Any) -> None:
    with pytest.raises(TypeError, match="new ARC, LARC or AutoLARC"):
        Panel(prototype)


def test_keys_with_other_names_keep_what_they_learned() -> None:
    panel = Panel(ARC(0.1)).update(["a", "b", "a"], None, [1.0, 0.0, 1.0])
    before = panel.thresholds(["a", "b"])
    assert panel.rename({"a": "c", "unknown": "d"}).keys == ["c", "b"]
    assert np.array_equal(panel.thresholds(["c", "b"]), before)
    assert panel.rounds_of(["a", "c"]).tolist() == [0, 2]


def test_two_keys_cannot_get_one_name() -> None:
    panel = Panel(ARC(0.1)).update(["a", "b"], None, [1.0, 0.0])
    with pytest.raises(ValueError, match="only 1 are distinct"):
        panel.rename({"a": "b"})
    assert panel.keys == ["a", "b"]


def test_what_is_around_a_panel_is_undone_with_it() -> None:
    panel, around = Panel(ARC(0.1)).update(["a"], None, [1.0]), {"calls": 1}

    def call() -> None:
        panel.undo.note(around.update, dict(around))
        around["calls"] += 1
        panel.rename({"a": "b"}).update(["c"], None, [1.0])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        panel.undo.unless_done(call)
    assert (around, panel.keys) == ({"calls": 1}, ["a"])


def test_a_stored_panel_is_resumed_beside_the_one_that_resumes_it() -> None:
    panel = Panel(ARC(0.1)).update(["a"], None, [1.0])
    empty = Panel(ARC(0.1))
    assert empty.resumed(panel.stored()).state() == panel.state()
    assert len(empty) == 0
