"""Numbers that are none, too large or missing are rejected at the edge, and change nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from localarc import (
    ARC,
    LARC,
    RBF,
    Dictionary,
    KeepAll,
    KeepLast,
    Lattice,
    Mondrian,
    Panel,
    replay,
    validation,
)
from localarc.curves import Curves, false_negatives, from_table, miscoverage
from localarc.kernels import Custom
from localarc.measures import block_bootstrap, group_risk

HUGE = 10**400
CURVE = miscoverage([0.3], widths=0.0)[0]
MASKED: Any = np.ma.array([0.1, 9.0], mask=[False, True])
STEPS = np.array([-np.inf, 0.3]), np.array([1.0, 0.0]), None, np.array([0, 2])


def larc() -> LARC:
    return LARC(0.1, RBF(1.0), score_range=(0.0, 1.0)).update([0.0, 0.0], 1.0)


HUGE_INTEGERS: dict[str, Callable[[], Any]] = {
    "alpha": lambda: ARC(HUGE),
    "rate": lambda: ARC(0.1, rate=HUGE),
    "loss_bound": lambda: ARC(0.1, loss_bound=HUGE),
    "score_range": lambda: ARC(0.1, score_range=(0, HUGE)),
    "length_scale": lambda: RBF(HUGE),
    "loss": lambda: ARC(0.1).update(None, HUGE),
    "losses": lambda: ARC(0.1).partial_fit([[0.0]], [HUGE]),
    "update": lambda: larc().update([HUGE, 0], 1.0),
    "threshold": lambda: larc().threshold([HUGE, 0]),
    "points": lambda: larc().partial_fit([[HUGE, 0]], [1.0]),
    "window": lambda: KeepLast(HUGE),
    "bytes": lambda: Lattice(max_bytes=HUGE),
    "pending": lambda: larc().certificate(pending=HUGE),
    "forward": lambda: larc().certificate().forward(HUGE),
    "scores": lambda: miscoverage([HUGE]),
    "bound": lambda: from_table([[0.5]], [0.0], bound=HUGE),
    "curve": lambda: CURVE.loss(HUGE),
    "thousands of digits": lambda: ARC(10**5000),
    "thousands of digits in a list": lambda: miscoverage([10**5000]),
    "thousands of digits of a whole number": lambda: KeepLast(10**5000),
}


@pytest.mark.parametrize("call", HUGE_INTEGERS.values(), ids=HUGE_INTEGERS.keys())
def test_an_integer_that_no_float_can_hold_is_rejected_by_name(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"must be (finite, )?(at most|two numbers)"):
        call()


MASKS: dict[str, Callable[[], Any]] = {
    "scores": lambda: miscoverage(MASKED),
    "a list of entries": lambda: miscoverage([MASKED[0], MASKED[1]]),
    "a list of rows": lambda: larc().partial_fit([MASKED, MASKED], [1.0, 0.0]),
    "nested lists": lambda: false_negatives([[[MASKED, MASKED]]], [[[[0, 1], [0, 1]]]]),
    "an object array": lambda: miscoverage(np.array([0.1, np.ma.masked], dtype=object)),
    "x": lambda: larc().update(MASKED, 1.0),
    "x to evaluate": lambda: larc().threshold(MASKED),
    "loss": lambda: ARC(0.1).update(None, MASKED[1]),
    "alpha": lambda: ARC(MASKED[1]),
    "losses": lambda: ARC(0.1).partial_fit([[0.0], [0.0]], MASKED),
    "breakpoints": lambda: Curves(np.ma.array(STEPS[0], mask=[False, True]), *STEPS[1:]),
    "losses of curves": lambda: Curves(STEPS[0], np.ma.array(STEPS[1], mask=True), *STEPS[2:]),
    "length scales": lambda: RBF(MASKED),
    "rounds": lambda: CURVE.curves.take(np.ma.array([0], mask=[True])),
    "x of groups": lambda: CALIBRATORS["groups"]().threshold(np.ma.array([[1.0]], mask=True)),
    "offsets": lambda: Curves(*STEPS[:3], np.ma.array([0, 2], mask=[True, False])),
    "truth": lambda: false_negatives([[[0.1, 0.2]]], [np.ma.array([[1, 0]], mask=[[False, True]])]),
    "sizes": lambda: group_risk([1.0, 0.0], ["a", "b"], MASKED),
    "blocks": lambda: block_bootstrap([1.0, 0.0], np.ma.array([1, 2], mask=[False, True])),
}


@pytest.mark.parametrize("call", MASKS.values(), ids=MASKS.keys())
def test_a_masked_entry_is_rejected_rather_than_read(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"must not be masked\. Drop or impute"):
        call()


def test_a_masked_array_without_masked_entries_is_an_array() -> None:
    assert len(miscoverage(np.ma.array([0.1, 0.2]))) == 2
    number: Any = np.ma.array(0.1)
    assert ARC(number).alpha == 0.1


@pytest.mark.parametrize("threshold", ["abc", b"1", None, [0.1, 0.2]])
def test_a_curve_has_no_loss_or_size_at_what_is_not_a_number(threshold: Any) -> None:
    for ask in (CURVE.loss, CURVE.size, CURVE.min_threshold):
        with pytest.raises(TypeError, match=r"(threshold|loss) must be a number, got"):
            ask(threshold)


def test_a_size_at_nan_or_of_a_round_that_does_not_exist_is_rejected() -> None:
    with pytest.raises(ValueError, match="got NaN"):
        CURVE.size(float("nan"))
    for t in (-1, 1):
        with pytest.raises(IndexError, match=f"round {t} does not exist"):
            CURVE.curves.size_at(t, 0.1)


def test_a_curve_has_a_loss_at_an_infinite_threshold() -> None:
    assert (CURVE.loss(np.inf), CURVE.loss(-np.inf)) == (0.0, 1.0)


def test_offsets_must_be_integers_and_arrays_vectors() -> None:
    with pytest.raises(TypeError, match="offsets must be integers"):
        Curves(*STEPS[:3], np.array([0.0, 2.0]))
    with pytest.raises(ValueError, match="must be vectors"):
        Curves(STEPS[0][None], *STEPS[1:])


@pytest.mark.parametrize("value", [5.5, float("nan"), float("inf"), True, "5", None, 1 + 0j])
def test_what_is_not_an_integer_is_rejected(value: Any) -> None:
    with pytest.raises(ValueError, match="n must be a whole number of at least 1, got"):
        validation.integer("n", value, 1, "")


@pytest.mark.parametrize("rate", [1.0, lambda t: t**-0.5], ids=["number", "function"])
def test_a_float_that_is_whole_is_rejected_with_what_to_write(rate: Any) -> None:
    cal = LARC(0.1, RBF(1.0), rate=rate, score_range=(0.0, 1.0)).update([0.0], 1.0)
    with pytest.raises(ValueError, match=r"got 1000000\.0\. A float is not accepted: pass int"):
        cal.certificate().forward(1e6)  # type: ignore[arg-type]


def test_a_bound_far_ahead_takes_no_pass_over_the_rounds() -> None:
    """With a function as the rate, 10**15 rounds would take years one by one."""
    calls = 0

    def rate(t: int) -> float:
        nonlocal calls
        calls += 1
        return float(t**-0.5)

    cal = LARC(0.1, RBF(1.0), rate=rate, score_range=(0.0, 1.0)).update([0.0], 1.0)
    ahead = cal.certificate().forward(10**15).value
    known = LARC(0.1, RBF(1.0), score_range=(0.0, 1.0)).update([0.0], 1.0)
    exact = known.certificate().forward(10**15).value
    assert exact <= ahead <= 1.003 * exact
    assert calls < 50_000


def test_a_rejected_curve_leaves_no_trace() -> None:
    cal = larc()
    before = cal.state()
    with pytest.raises(TypeError, match="must not be masked"):
        replay(cal, [MASKED, MASKED], miscoverage([0.1, 0.2]))
    assert cal.state() == before


def bump(X: Any, z: Any) -> Any:
    return 1.0 / (1.0 + ((X - z) ** 2).sum(axis=1))


CALIBRATORS: dict[str, Callable[[], Any]] = {
    "all": lambda: LARC(0.1, RBF(1.0), memory=KeepAll()),
    "last": lambda: LARC(0.1, RBF(1.0), memory=KeepLast(2)),
    "lattice": lambda: LARC(0.1, RBF(1.0), memory=Lattice()),
    "dictionary": lambda: LARC(0.1, RBF(1.0), memory=Dictionary()),
    "radius": lambda: LARC(0.1, RBF(1.0), memory=KeepAll(), radius=1.0),
    "function": lambda: LARC(0.1, Custom(bump, scale=1.0)),
    "function with radius": lambda: LARC(0.1, Custom(bump, scale=1.0), radius=1.0),
    "sum": lambda: LARC(0.1, RBF(1.0) + RBF(2.0), clip=1.0),
    "groups": lambda: Mondrian(lambda: LARC(0.1, Custom(bump, scale=1.0)), lambda x: 0),
}
FAR = np.array([0.0, 1e101])


def learned(make: Callable[[], Any]) -> Any:
    return make().update(np.zeros(2), 1.0)


PATHS: dict[str, Callable[[Any], Any]] = {
    "first threshold": lambda make: make().threshold(FAR),
    "first update": lambda make: make().update(FAR, 1.0),
    "threshold": lambda make: learned(make).threshold(FAR),
    "threshold of a list": lambda make: learned(make).threshold(FAR.tolist()),
    "thresholds": lambda make: learned(make).threshold(np.stack([FAR, FAR])),
    "update": lambda make: learned(make).update(FAR, 1.0),
    "update with a list": lambda make: learned(make).update(FAR.tolist(), 1.0),
    "partial_fit": lambda make: learned(make).partial_fit([FAR, FAR], [1.0, 0.0]),
    "replay": lambda make: replay(learned(make), [FAR, FAR], miscoverage([0.1, 0.2])),
    "replay of an iterator": lambda make: replay(learned(make), iter([(FAR, CURVE)])),
    "threshold function": lambda make: learned(make).threshold_function(FAR),
    "average": lambda make: learned(make).averaged_threshold_function(FAR),
}


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS.keys())
@pytest.mark.parametrize("make", CALIBRATORS.values(), ids=CALIBRATORS.keys())
def test_an_input_beyond_1e100_is_rejected_on_every_path(
    make: Callable[[], Any], path: Callable[[Any], Any]
) -> None:
    with pytest.raises(ValueError, match=r"finite, at most 1e\+100 in magnitude, got 1e\+101"):
        path(make)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [KeepAll(), KeepLast(2), Lattice(), Dictionary()], ids=repr)
def test_a_panel_rejects_it_too(memory: Any) -> None:
    panel: Any = Panel(LARC(0.1, RBF(1.0), memory=memory))
    panel.update(["a"], [np.zeros(2)], [1.0])
    calls: list[Callable[[], Any]] = [
        lambda: panel.thresholds(["a"], [FAR]),
        lambda: panel.update(["a"], [FAR], [1.0]),
        lambda: panel.replay(["a"], [FAR], miscoverage([0.3])),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"at most 1e\+100 in magnitude, got 1e\+101"):
            call()


def test_curves_of_your_own_reject_scores_beyond_1e100() -> None:
    with pytest.raises(ValueError, match="score that is not finite"):
        Curves(np.array([-np.inf, 1e101]), *STEPS[1:])
