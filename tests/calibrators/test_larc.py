import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equations
from examples import KERNELS, online, sparse, stream
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
    Power,
    replay,
)
from localarc.curves import Curves, relative_regret

PROBES = np.random.default_rng(5).normal(size=(7, 2))


def assert_same(cal: LARC, slow: equations.Run, thresholds: Any, losses: Any) -> None:
    assert np.allclose(thresholds, slow.thresholds, rtol=0, atol=1e-12)
    assert np.array_equal(losses, slow.losses)
    assert np.allclose(cal.threshold_function(PROBES), slow.current(PROBES), rtol=0, atol=1e-12)
    assert np.allclose(
        cal.averaged_threshold_function(PROBES), slow.average(PROBES), rtol=0, atol=1e-12
    )


CASES: list[dict[str, Any]] = [
    {},
    {"memory": KeepLast(20)},
    {"memory": KeepLast(1)},
    {"regularization": 0.5},  # strong decay: the lazy scale is renormalised on the way
    {"regularization": 0.0},
    {"rate": Constant(0.3), "regularization": 0.1},
    {"rate": Power(0.5, 0.7), "initial_threshold": -0.4},
    {"radius": 0.8},
    {"radius": 0.5, "memory": KeepAll(), "regularization": 0.2},
    {"clip": 0.2},
    {"memory": KeepLast(15), "regularization": 0.6},
]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param(name, case, marks=[] if name == "RBF" else [pytest.mark.slow])
        for name, case in (*sparse([*KERNELS], CASES), *(("custom", case) for case in CASES[1:]))
    ],
)
def test_the_equations_the_online_loop_and_replay_agree(name: str, options: dict[str, Any]) -> None:
    kernel = KERNELS[name]
    X, curves = stream(90)
    cal = LARC(0.2, kernel, **options)
    slow = equations.larc(
        X,
        curves.loss_at,
        0.2,
        kernel,
        cal.settings.rate,
        cal.settings.regularization,
        window=cal.memory.window,
        start=cal.settings.initial_threshold,
        clip=options.get("clip", math.inf),
        radius=options.get("radius", math.inf),
    )
    if "clip" in options:  # an average of clipped functions has no short form
        slow.mean_coefficients = slow.coefficients = np.zeros(len(X))
        assert np.allclose(online(cal, X, curves)[0], slow.thresholds, rtol=0, atol=1e-12)
        run = replay(LARC(0.2, kernel, **options), X, curves)
        assert np.allclose(run.thresholds, slow.thresholds, rtol=0, atol=1e-12)
        assert (
            np.abs(cal.averaged_threshold_function(PROBES) - cal._constant.constant_sum / 90).max()
            <= 0.2
        )
        return
    assert_same(cal, slow, *online(cal, X, curves))
    replayed = LARC(0.2, kernel, **options)
    run = replay(replayed, X, curves)
    assert_same(replayed, slow, run.thresholds, run.losses)


def test_a_loss_between_zero_and_one_follows_the_equations_too() -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(80, 2))
    curves = relative_regret(random.normal(size=(80, 5)), random.uniform(0.1, 1, size=(80, 5)))
    cal = LARC(0.3, RBF.from_paper(1.0), rate=2.0)
    slow = equations.larc(X, curves.loss_at, 0.3, RBF.from_paper(1.0), cal.settings.rate, 1e-4)
    run = replay(cal, X, curves)
    assert len(np.unique(run.losses)) > 10
    assert_same(cal, slow, run.thresholds, run.losses)


def test_arc_follows_its_equation() -> None:
    X, curves = stream(100)
    slow = equations.arc(curves.loss_at, 100, 0.2, lambda t: 0.7 / math.sqrt(t), start=0.3)
    cal = ARC(0.2, 0.7, initial_threshold=0.3)
    thresholds, losses = online(cal, X, curves)
    run = replay(ARC(0.2, 0.7, initial_threshold=0.3), X, curves)
    for got in (thresholds, run.thresholds):
        assert np.allclose(got, slow.thresholds, rtol=0, atol=1e-12)
    assert np.array_equal(losses, slow.losses)
    assert cal.averaged_threshold_function(None) == pytest.approx(
        slow.constants[:-1].mean(), abs=1e-13
    )
    assert cal.threshold_function(None) == pytest.approx(slow.constants[-1], abs=1e-13)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    losses=st.lists(st.floats(0, 1), min_size=1, max_size=120),
    eta=st.floats(0.01, 10),
    alpha=st.floats(0.05, 0.95),
)
def test_the_constant_is_the_accumulated_excess_loss(
    losses: list[float], eta: float, alpha: float
) -> None:
    cal = ARC(alpha, Constant(eta)).partial_fit(np.zeros((len(losses), 1)), losses)
    assert cal.threshold(None) == pytest.approx(eta * sum(x - alpha for x in losses), abs=1e-9)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    losses=st.lists(st.floats(0, 1), min_size=1, max_size=200),
    eta=st.floats(0.01, 10),
    exponent=st.floats(0, 0.95),
    alpha=st.floats(0.05, 0.95),
    start=st.floats(-5, 5),
)
def test_the_identity_of_the_trace_holds(
    losses: list[float], eta: float, exponent: float, alpha: float, start: float
) -> None:
    T = len(losses)
    cal = LARC(
        alpha, RBF.from_paper(1.0), Power(eta, exponent), 0.01 / eta, initial_threshold=start
    )
    cal.partial_fit(np.linspace(-3, 3, T), losses)
    rates = cal.settings.rate.values(1, T + 1)
    constants = start + np.cumsum(np.append(0.0, rates * (np.array(losses) - alpha)))
    left, right = equations.identity(np.array(losses), constants, rates, alpha)
    certificate = cal.certificate()
    scale = T + np.abs(constants).max() / rates[-1]
    assert abs(left - right) <= 1e-9 * scale
    assert certificate.consistent
    assert certificate.consistency_gap <= 1e-9 * scale
    assert abs(certificate.risk - alpha) <= certificate.observed.value * (1 + 1e-9) + 1e-12


def test_the_zero_kernel_ignores_where_losses_happened() -> None:
    X, curves = stream(100)
    zero = replay(LARC(0.1, RBF.from_paper(1.0, scale=0.0)), X, curves)
    none = replay(ARC(0.1), X, curves)
    assert np.array_equal(zero.thresholds, none.thresholds)


def test_a_long_memory_forgets_nothing() -> None:
    X, curves = stream(60)
    assert np.allclose(
        replay(LARC(0.1, RBF.from_paper(1.0), memory=KeepLast(60)), X, curves).thresholds,
        replay(LARC(0.1, RBF.from_paper(1.0)), X, curves).thresholds,
        rtol=0,
        atol=1e-13,
    )


@pytest.mark.parametrize("factor", [0.5, 4.0])
def test_scores_and_rate_in_other_units_give_the_same_losses(factor: float) -> None:
    """Scaling scores, rate and regularization alike scales thresholds and changes nothing else."""
    X, curves = stream(80)
    scaled = Curves(curves.breakpoints * factor, curves.losses, None, curves.offsets)
    plain = replay(LARC(0.1, RBF.from_paper(1.0), 1.0, 0.01), X, curves)
    other = replay(LARC(0.1, RBF.from_paper(1.0), factor, 0.01 / factor), X, scaled)
    assert np.array_equal(plain.losses, other.losses)
    assert np.allclose(factor * plain.thresholds, other.thresholds, rtol=1e-12)


def test_moving_all_inputs_changes_nothing() -> None:
    X, curves = stream(80)
    here = replay(LARC(0.1, RBF.from_paper(1.0)), X, curves).thresholds
    there = replay(LARC(0.1, RBF.from_paper(1.0)), X + 100.0, curves).thresholds
    assert np.allclose(here, there, atol=1e-10)


def test_a_costly_round_raises_the_threshold_most_where_it_happened() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0)).update([0.0, 0.0], 1.0)
    near, far = cal.threshold([[0.1, 0.0], [5.0, 0.0]])
    assert near > far > 0.0


def test_a_snapshot_does_not_follow_later_updates() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0)).update([0.0], 1.0)
    current, average = cal.threshold_function, cal.averaged_threshold_function
    before = current([0.0]), average([0.0])
    cal.update([0.0], 1.0)
    assert (current([0.0]), average([0.0])) == before
    assert cal.threshold_function([0.0]) != before[0]


def test_before_the_first_round_every_threshold_is_the_initial_one() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0), initial_threshold=0.7)
    assert (
        cal.threshold([1.0, 2.0])
        == cal.averaged_threshold_function([1.0])
        == cal.threshold_function([1.0])
        == 0.7
    )
    assert cal.threshold(np.zeros((3, 2))).tolist() == [0.7, 0.7, 0.7]


def test_one_feature_may_come_as_a_number() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0)).update(0.5, 1.0)
    assert cal.threshold(0.5) == cal.threshold([0.5]) == cal.threshold([[0.5]])[0]


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "every second number": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "read-only": lambda x: np.frombuffer(x.tobytes()),
    "in the middle of a record": lambda x: np.frombuffer(b"?" + x.tobytes(), offset=1),
    "of the other byte order": lambda x: x.astype(">f8"),
    "a list": lambda x: x.tolist(),
}


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "memory", [KeepAll(), KeepLast(5), Lattice(1e-8), Dictionary(1e-4)], ids=repr
)
def test_it_does_not_matter_how_an_input_lies_in_memory(memory: Any, layout: str) -> None:
    plain, other = (LARC(0.1, RBF.from_paper(0.7), memory=memory) for _ in range(2))
    for t, x in enumerate(np.random.default_rng(0).normal(size=(20, 2))):
        laid = LAYOUTS[layout](x)
        assert other.threshold(laid) == plain.threshold(x)
        plain.update(x, float(t % 3 == 0))
        other.update(laid, float(t % 3 == 0))
    assert other.state() == plain.state()


def test_partial_fit_is_update_row_by_row() -> None:
    one_by_one, at_once = (LARC(0.1, RBF.from_paper(1.0)) for _ in range(2))
    X, losses = np.array([[0.0], [1.0]]), [1.0, 0.0]
    for x, loss in zip(X, losses, strict=True):
        one_by_one.update(x, loss)
    assert one_by_one.state() == at_once.partial_fit(X, losses).state()


@pytest.mark.slow
def test_a_window_without_archive_stays_small_and_has_no_average() -> None:
    bounded = LARC(0.1, RBF.from_paper(1.0), memory=KeepLast(10, archive=False))
    archived = LARC(0.1, RBF.from_paper(1.0), memory=KeepLast(10))
    X, curves = stream(3000)
    thresholds = [replay(cal, X, curves).thresholds for cal in (bounded, archived)]
    assert np.array_equal(thresholds[0], thresholds[1])
    assert len(bounded.state()) < 20_000 < 100_000 < len(archived.state())
    with pytest.raises(RuntimeError, match="archive=True"):
        _ = bounded.averaged_threshold_function


def test_the_repr_says_what_is_run() -> None:
    text = repr(LARC(0.1, RBF.from_paper(1.0), memory=KeepLast(5), clip=2.0).update([0.0], 1.0))
    for part in (
        "LARC(alpha=0.1",
        "RBF(length_scale=0.7071067811865476",
        "KeepLast(m=5",
        "clip=2.0",
    ):
        assert part in text
    assert "rounds=1" in text


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ARC(0.0), "alpha must lie strictly between 0 and the loss bound 1.0, got 0.0"),
        (lambda: ARC(1.0), "alpha must lie strictly"),
        (lambda: ARC(2.0, loss_bound=2.0), "the loss bound 2.0, got 2.0"),
        (lambda: ARC(float("nan")), "alpha must be finite"),
        (lambda: ARC(0.1, loss_bound=0.0), "loss_bound must be positive"),
        (
            lambda: LARC(0.1, RBF.from_paper(1.0), regularization=-1.0),
            "regularization must not be negative",
        ),
        (lambda: LARC(0.1, RBF.from_paper(1.0), clip=0.0), "clip must be positive"),
        (lambda: LARC(0.1, RBF.from_paper(1.0), radius=-2.0), "radius must be positive"),
        (lambda: LARC(0.1, RBF.from_paper(1.0), memory="all"), "memory must be"),
        (
            lambda: LARC(0.1, RBF.from_paper(1.0), memory=KeepLast(5), radius=1.0),
            "Use clip instead",
        ),
        (
            lambda: LARC(0.1, RBF.from_paper(1.0), memory=KeepLast(0)),
            "m must be a whole number of at least 1",
        ),
        (lambda: LARC(0.1, Laplace(1.0), memory=Lattice()), "Lattice supports RBF kernels"),
        (
            lambda: LARC(0.1, RBF.from_paper(1.0) + RBF.from_paper(2.0), memory=Dictionary()),
            "formula of the distance",
        ),
        (lambda: ARC(0.1, score_range=(1.0, 0.0)), "must be ascending"),
        (lambda: ARC(0.1, score_range=(1.0,)), "must be two numbers"),  # type: ignore[arg-type]
        (lambda: ARC(0.1, initial_threshold=math.inf), "initial_threshold must be finite"),
    ],
)
def test_a_bad_setting_says_what_is_wrong(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("alpha", ["a", None, [0.1, 0.2]])
def test_alpha_must_be_a_number(alpha: Any) -> None:
    with pytest.raises(TypeError, match="alpha must be a number"):
        ARC(alpha)


def test_a_vector_for_many_inputs_of_one_feature_is_explained() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0)).update([0.0], 1.0)
    with pytest.raises(ValueError, match=r"must have 1 feature\(s\).*shape \(n, 1\)"):
        cal.threshold([0.0, 1.0, 2.0])


def test_partial_fit_learns_all_or_nothing() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0)).update([0.0], 1.0)
    before = cal.state()
    with pytest.raises(ValueError, match="loss must lie between"):
        cal.partial_fit([[0.0], [1.0]], [0.5, 1.5])
    with pytest.raises(ValueError, match="one entry per round"):
        cal.partial_fit([[0.0], [1.0]], [0.5])
    assert cal.state() == before


def test_a_kernel_that_fails_in_mid_stream_leaves_the_calibrator_as_it_was() -> None:
    healthy = True

    def kernel(X: Any, z: Any) -> Any:
        if not healthy and len(X) == 1:
            raise RuntimeError("out of luck")
        return np.ones(len(X))

    X, curves = stream(60)
    cal = LARC(0.1, kernel).update(X[0], 0.5)
    before = cal.state()
    healthy = False
    with pytest.raises(RuntimeError, match="out of luck"):
        replay(cal, X, curves)
    assert cal.state() == before
