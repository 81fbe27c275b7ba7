import logging
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import equations
from examples import stream
from localarc import (
    ARC,
    LARC,
    RBF,
    Cauchy,
    Constant,
    Dictionary,
    KeepAll,
    KeepLast,
    Laplace,
    Lattice,
    Matern52,
    Mondrian,
    Power,
    Triangular,
    replay,
    replay_many,
)
from localarc.curves import miscoverage, relative_regret
from localarc.kernels import Custom, Radial
from localarc.memory import auto
from localarc.testing import check_calibrator

# Memories are compared on losses that no target explains.
pytestmark = pytest.mark.filterwarnings("ignore::localarc.PromiseWarning")


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize(
    "options",
    [{}, {"regularization": 0.4}, {"rate": Constant(0.2)}, {"clip": 0.3}, {"radius": 0.6}],
    ids=repr,
)
def test_the_automatic_choice_is_the_exact_algorithm_to_rounding(
    d: int, options: dict[str, Any]
) -> None:
    X, curves = stream(400, d)
    chosen, exact = (
        LARC(0.1, RBF.from_paper(0.5), **options),
        LARC(0.1, RBF.from_paper(0.5), memory=KeepAll(), **options),
    )
    runs = [replay(cal, X, curves) for cal in (chosen, exact)]
    assert isinstance(chosen.memory, Lattice)
    assert np.abs(runs[0].thresholds - runs[1].thresholds).max() < 1e-12
    assert np.array_equal(runs[0].losses, runs[1].losses)
    assert (
        np.abs(chosen.averaged_threshold_function(X) - exact.averaged_threshold_function(X)).max()
        < 1e-12
    )
    assert np.abs(chosen.threshold_function(X) - exact.threshold_function(X)).max() < 1e-12


@pytest.mark.parametrize(
    ("kernel", "d", "memory"),
    [
        (RBF.from_paper(1.0), 1, Lattice()),
        (RBF.from_paper((1.0, 4.0)), 2, Lattice()),
        (RBF.from_paper(1.0), 3, KeepAll()),
        (Laplace(1.0), 1, KeepAll()),
        (RBF.from_paper(1.0) + RBF.from_paper(2.0), 1, KeepAll()),
    ],
)
def test_what_was_chosen_is_visible(kernel: Any, d: int, memory: Any) -> None:
    cal = LARC(0.1, kernel)
    assert "memory=Auto()" in repr(cal)
    cal.update(np.zeros(d), 1.0)
    assert cal.memory == memory
    assert repr(memory) in repr(cal)


@settings(max_examples=30, derandomize=True, deadline=None)
@given(
    tolerance=st.sampled_from([1e-2, 1e-4, 1e-8, 1e-12]),
    length_scale=st.floats(0.05, 20.0),
    d=st.integers(1, 3),
    seed=st.integers(0, 100),
)
def test_a_lattice_is_within_its_tolerance(
    tolerance: float, length_scale: float, d: int, seed: int
) -> None:
    """|f - f_exact| <= tolerance * sum |a_i|, for the same losses, at any point."""
    random = np.random.default_rng(seed)
    X, losses = random.normal(size=(40, d)), random.uniform(size=40)
    rough = LARC(0.3, RBF.from_paper(length_scale), memory=Lattice(tolerance)).partial_fit(
        X, losses
    )
    exact = LARC(0.3, RBF.from_paper(length_scale), memory=KeepAll()).partial_fit(X, losses)
    weights = np.abs(losses - 0.3) / np.sqrt(np.arange(1, 41))
    probes = np.concatenate([X, random.normal(size=(40, d)) * 3])
    allowed = tolerance * weights.sum() + 1e-13
    assert (
        np.abs(rough.threshold_function(probes) - exact.threshold_function(probes)).max() <= allowed
    )
    assert (
        np.abs(
            rough.averaged_threshold_function(probes) - exact.averaged_threshold_function(probes)
        ).max()
        <= allowed
    )


def test_a_lattice_stays_small_while_time_goes_on() -> None:
    X, curves = stream(30_000, spread=0.5)
    cal = LARC(0.1, RBF.from_paper(1.0))
    replay(cal, X[:2000], curves.take(slice(0, 2000)))
    early = cal.nbytes
    replay(cal, X[2000:], curves.take(slice(2000, 30_000)))
    assert cal.nbytes < 2 * early


def test_a_far_outlier_costs_a_lattice_no_box() -> None:
    cal = LARC(0.1, RBF.from_paper(1.0)).update([0.0, 0.0], 1.0).update([1e6, -1e6], 1.0)
    assert cal.nbytes < 500_000
    assert cal.threshold([1e6, -1e6]) > cal.threshold([500.0, 500.0])


def test_a_lattice_rejects_before_memory_explodes_and_changes_nothing() -> None:
    cal = LARC(0.1, RBF.from_paper(1e-4), memory=Lattice(max_bytes=2**20))
    random = np.random.default_rng(0)
    with pytest.raises(MemoryError, match="max_bytes=1048576"):  # noqa: PT012
        for _ in range(3000):
            x = random.uniform(size=2)
            before = cal.state()
            cal.update(x, 1.0)
    assert cal.state() == before
    X = random.uniform(size=(500, 2))
    with pytest.raises(MemoryError):
        replay(cal, X, miscoverage(np.ones(500)))
    assert cal.state() == before


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Lattice(1e-20), "tolerance must lie between 1e-15 and 0.1"),
        (lambda: Lattice(0.5), "tolerance must lie between"),
        (lambda: Lattice(1e-8, max_bytes=5), "max_bytes must be a whole number"),
        (lambda: Dictionary(0.0), "tolerance must be positive"),
        (lambda: Dictionary(1e-4, max_size=0), "max_size must be a whole number"),
        (
            lambda: LARC(0.1, Laplace(1.0), memory=Lattice()).update([0.0], 1.0),
            "Use Dictionary or KeepAll",
        ),
        (
            lambda: LARC(0.1, RBF.from_paper(1.0), memory=Lattice()).update(np.zeros(4), 1.0),
            "up to 3 features",
        ),
        (
            lambda: LARC(
                0.1, RBF.from_paper(1.0) + RBF.from_paper(2.0), memory=Dictionary()
            ).update([0.0], 1.0),
            "formula of the distance",
        ),
        (
            lambda: LARC(0.1, RBF.from_paper(1.0), memory=Dictionary(), radius=1.0),
            "Use clip instead",
        ),
        (lambda: Radial(lambda u: 2.0 / (1.0 + u)), "must be 1 at distance zero, got 2.0"),
    ],
)
def test_a_bad_memory_says_what_is_wrong(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(  # every combination is compiled, which takes seconds
    ("kernel", "d"),
    [
        (RBF.from_paper(1.0), 1),
        pytest.param(RBF.from_paper(1.0), 7, marks=pytest.mark.slow),
        pytest.param(Matern52(2.0), 3, marks=pytest.mark.slow),
        pytest.param(Cauchy(1.0), 3, marks=pytest.mark.slow),
    ],
)
def test_a_dictionary_keeps_to_its_tolerance(kernel: Any, d: int) -> None:
    """On the same losses, so that a flipped loss does not hide or make an error."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(20, d))
    X = centres[random.integers(0, 20, 3000)] + random.normal(size=(3000, d)) * 0.05
    losses = (random.uniform(size=3000) < 0.2).astype(float)
    rough = LARC(0.1, kernel, memory=Dictionary(1e-3)).partial_fit(X, losses)
    exact = LARC(0.1, kernel, memory=KeepAll()).partial_fit(X, losses)
    at = X[::7]
    assert np.abs(rough.threshold_function(at) - exact.threshold_function(at)).max() <= 1e-3
    assert (
        np.abs(rough.averaged_threshold_function(at) - exact.averaged_threshold_function(at)).max()
        <= 1e-3
    )
    assert rough.max_error_estimate <= 1e-3
    assert exact.max_error_estimate == 0.0


@pytest.mark.slow
def test_a_full_dictionary_grows_its_error_not_its_size() -> None:
    X, curves = stream(4000, d=5)
    cal = LARC(0.1, RBF.from_paper(1.0), memory=Dictionary(1e-6, max_size=32))
    replay(cal, X[:2000], curves.take(slice(0, 2000)))
    early, error = cal.nbytes, cal.max_error_estimate
    replay(cal, X[2000:], curves.take(slice(2000, 4000)))
    assert abs(cal.nbytes - early) < 20_000
    assert cal.max_error_estimate >= error > 1e-6  # and it is reported
    assert abs(cal.certificate().risk - 0.1) < 0.05


def test_repeated_points_do_not_make_a_dictionary_singular() -> None:
    X = np.tile([[0.0, 1.0], [0.0, 1.0 + 1e-14]], (1000, 1))
    losses = np.tile([1.0, 0.0, 0.0, 0.0], 500)
    rough = LARC(0.1, RBF.from_paper(1.0), memory=Dictionary(1e-6)).partial_fit(X, losses)
    exact = LARC(0.1, RBF.from_paper(1.0), memory=KeepAll()).partial_fit(X, losses)
    assert rough.threshold([0.0, 1.0]) == pytest.approx(exact.threshold([0.0, 1.0]), abs=1e-6)


MEMORIES = [Lattice(), Lattice(1e-8), Dictionary(1e-3), Dictionary(1e-3, max_size=5)]


@pytest.mark.slow
@pytest.mark.parametrize("memory", MEMORIES, ids=repr)
@pytest.mark.parametrize("options", [{}, {"regularization": 0.5}, {"clip": 0.2}], ids=repr)
def test_constant_memories_keep_the_promises(memory: Any, options: dict[str, Any]) -> None:
    check_calibrator(LARC(0.1, RBF.from_paper(1.0), memory=memory, **options))
    check_calibrator(LARC(0.1, RBF.from_paper(1.0), memory=memory, **options), dimension=1)


@pytest.mark.slow  # compiles loops that nothing else uses
@pytest.mark.parametrize(
    "kernel", [Triangular(4.0), Radial(lambda u: 1 / (1 + u))], ids=["built in", "user's"]
)
def test_dictionaries_serve_every_kernel_of_the_distance(kernel: Any) -> None:
    check_calibrator(LARC(0.1, kernel, memory=Dictionary(1e-3)), dimension=3)


@pytest.mark.parametrize("memory", [*MEMORIES, KeepAll(), KeepLast(50)], ids=repr)
def test_a_long_stream_resumes_bit_for_bit(memory: Any) -> None:
    X, curves = stream(1500)
    whole, halves = (
        LARC(0.1, RBF.from_paper(1.0), memory=memory, regularization=0.2) for _ in range(2)
    )
    replay(whole, X[:700], curves.take(slice(0, 700)))
    halves = LARC.from_state(whole.state())
    for cal in (whole, halves):
        replay(cal, X[700:], curves.take(slice(700, 1500)))
    assert whole.state() == halves.state()


def test_theorem_b_covers_a_lattice_but_not_a_dictionary() -> None:
    lattice = LARC(0.1, RBF.from_paper(1.0), score_range=(0, 1)).update([0.0], 1.0).certificate()
    assert lattice.theorem_b.holds
    rough = LARC(0.1, RBF.from_paper(1.0), memory=Dictionary(), score_range=(0, 1)).update(
        [0.0], 1.0
    )
    assert not rough.certificate().theorem_b.holds
    assert not rough.certificate().theorem_a.holds
    clipped = LARC(0.1, RBF.from_paper(1.0), memory=Dictionary(), clip=1.0, score_range=(0, 1))
    assert clipped.update([0.0], 1.0).certificate().theorem_a.holds


@pytest.mark.slow  # compiles loops that nothing else uses
def test_a_compiled_function_of_the_distance_is_a_kernel() -> None:
    cauchy: Any = njit(lambda u: 1.0 / (1.0 + u))
    X, curves = stream(200, d=3)
    mine = replay(LARC(0.1, cauchy), X, curves)
    ours = replay(LARC(0.1, Cauchy(1.0)), X, curves)
    assert np.abs(mine.thresholds - ours.thresholds).max() < 1e-12
    assert Radial(cauchy).lipschitz() is None
    assert (3 * Radial(cauchy)).scale == 3.0
    assert np.allclose(Radial(cauchy, 2.0)(X, X[0]), Cauchy(2.0)(X, X[0]))


def test_a_python_kernel_says_once_that_it_is_slow(caplog: pytest.LogCaptureFixture) -> None:
    from localarc.memory import compiled_expansion

    compiled_expansion.warn_slow_kernel.cache_clear()
    with caplog.at_level(logging.WARNING, "localarc"):
        for _ in range(3):
            LARC(0.1, Custom(lambda X, z: np.ones(len(X)))).update([0.0], 1.0)
    assert len([r for r in caplog.records if "evaluated in Python" in r.message]) == 1


def test_a_large_exact_memory_names_the_way_out_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    import localarc.calibrators.larc as module

    monkeypatch.setattr(module, "MANY_TERMS", 50)
    assert auto.MANY_TERMS == 20_000
    X, curves = stream(60, d=3)
    with caplog.at_level(logging.WARNING, "localarc"):
        replay(LARC(0.1, RBF.from_paper(1.0)), X, curves)
        online = LARC(0.1, RBF.from_paper(1.0))
        for x in X:
            online.update(x, 0.0)
        replay(
            LARC(0.1, RBF.from_paper(1.0), memory=KeepAll()), X, curves
        )  # asked for: says nothing
        replay(LARC(0.1, RBF.from_paper(1.0)), X[:, :2], curves)  # a lattice: nothing to say
        ARC(0.1).partial_fit(X, np.zeros(60))
    notes = [r.message for r in caplog.records if "Dictionary(tolerance=1e-4)" in r.message]
    assert len(notes) == 2


@pytest.mark.slow
def test_many_at_once_are_the_same_as_one_by_one() -> None:
    X, curves = stream(700, d=3)

    def calibrators() -> list[Any]:
        exact = [
            LARC(alpha, kernel, rate, regularization, memory=KeepAll(), clip=clip)
            for alpha in (0.1, 0.4)
            for kernel in (
                RBF.from_paper(1.0),
                RBF.from_paper(1.0, 2.0),
                RBF.from_paper(0.25),
                Laplace(1.0),
            )
            for rate, regularization, clip in ((1.0, 1e-4, None), (Power(0.5, 0.7), 0.3, 0.2))
        ]
        balls = [LARC(0.1, RBF.from_paper(1.0), memory=KeepAll(), radius=r) for r in (0.3, 0.5)]
        others = [
            ARC(0.1),
            LARC(0.1, RBF.from_paper(1.0), memory=KeepLast(50)),
            Mondrian(lambda: ARC(0.1)),
        ]
        return [*exact, *balls, *others]

    groups = ["ab"[i % 2] for i in range(700)]
    together, apart = calibrators(), calibrators()
    records = replay_many(together, X, curves, groups)
    for one, many, record in zip(apart, together, records, strict=True):
        alone = replay(one, X, curves, groups)
        assert np.abs(alone.thresholds - record.thresholds).max() < 1e-12
        assert np.array_equal(alone.losses, record.losses)
        assert record.calibrator == alone.calibrator
        assert many.certificate().risk == pytest.approx(one.certificate().risk)
        if isinstance(one, LARC):
            assert (
                np.abs(
                    many.averaged_threshold_function(X[:20])
                    - one.averaged_threshold_function(X[:20])
                ).max()
                < 1e-12
            )
            assert (
                np.abs(many.threshold_function(X[:20]) - one.threshold_function(X[:20])).max()
                < 1e-12
            )


@pytest.mark.slow
def test_single_precision_stays_close_and_is_asked_for_by_name() -> None:
    X, curves = stream(700, d=3)
    exact = replay(LARC(0.1, RBF.from_paper(1.0), memory=KeepAll()), X, curves)
    single = replay_many(
        [LARC(0.1, RBF.from_paper(1.0), memory=KeepAll())], X, curves, dtype="float32"
    )[0]
    deviation = np.abs(exact.thresholds - single.thresholds).max()
    assert 0 < deviation < 1e-5
    with pytest.raises(ValueError, match='must be "float64" or "float32"'):
        replay_many([ARC(0.1)], X, curves, dtype="float16")
    with pytest.raises(ValueError, match="float32 supports only the Gaussian kernel"):
        replay_many([LARC(0.1, Laplace(1.0), memory=KeepAll())], X, curves, dtype="float32")


def test_two_calibrators_in_two_threads_agree_with_serial_runs() -> None:
    X, curves = stream(3000)
    for memory in (Lattice(), KeepAll(), Dictionary(1e-4)):
        expected = replay(LARC(0.1, RBF.from_paper(1.0), memory=memory), X, curves).thresholds
        found: dict[int, Any] = {}

        def work(i: int, memory: Any = memory, found: dict[int, Any] = found) -> None:
            found[i] = replay(LARC(0.1, RBF.from_paper(1.0), memory=memory), X, curves).thresholds

        threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert np.array_equal(found[0], expected)
        assert np.array_equal(found[1], expected)


@pytest.mark.slow
@pytest.mark.parametrize("length_scale", [1e-8, 1e8])
@pytest.mark.parametrize("d", [1, 2, 50])
def test_extreme_length_scales_and_dimensions_follow_the_equations(
    length_scale: float, d: int
) -> None:
    X, curves = stream(150, d)
    kernel = RBF.from_paper(length_scale)
    run = replay(LARC(0.1, kernel), X, curves)
    rate = equations.larc(X, curves.loss_at, 0.1, kernel, lambda t: t**-0.5, 1e-4)
    assert np.abs(run.thresholds - rate.thresholds).max() < 1e-12


def test_many_rounds_of_strong_decay_do_not_drift() -> None:
    """The lazy scale is renormalised hundreds of times; a fresh exact run must agree."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 2))
    curves = relative_regret(random.normal(size=(20_000, 3)), random.uniform(0.1, 1, (20_000, 3)))
    options: dict[str, Any] = {"rate": Constant(0.5), "regularization": 0.5}
    lattice = LARC(0.3, RBF.from_paper(1.0), memory=Lattice(), **options)
    exact = LARC(0.3, RBF.from_paper(1.0), memory=KeepLast(400), **options)  # 0.75^400 is nothing
    runs = [replay(cal, X, curves).thresholds for cal in (lattice, exact)]
    assert np.abs(runs[0] - runs[1]).max() < 1e-12
    assert (
        np.abs(
            lattice.averaged_threshold_function(X[:50]) - exact.averaged_threshold_function(X[:50])
        ).max()
        < 1e-12
    )


@pytest.mark.slow
def test_ten_million_rounds_neither_overflow_nor_drift() -> None:
    """Only the latest few hundred terms matter under strong decay: a fresh exact run tells f."""
    random = np.random.default_rng(0)
    options: dict[str, Any] = {"rate": Constant(0.5), "regularization": 0.5}
    old = LARC(0.3, RBF.from_paper(1.0), memory=Lattice(), **options)
    for _ in range(10):
        X = random.normal(size=(1_000_000, 2))
        run = replay(old, X, miscoverage(np.abs(random.normal(size=1_000_000))))
    certificate = old.certificate()
    assert certificate.rounds == 10_000_000
    assert certificate.consistent
    fresh = LARC(0.3, RBF.from_paper(1.0), memory=KeepAll(), **options).partial_fit(
        X[-2000:], run.losses[-2000:]
    )
    probes = random.normal(size=(200, 2))
    local = old.threshold_function(probes) - old.threshold_function.constant
    assert (
        np.abs(local - (fresh.threshold_function(probes) - fresh.threshold_function.constant)).max()
        < 1e-12
    )
