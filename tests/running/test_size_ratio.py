"""Size ratio: sets that are several times a rolling quantile's are news, healthy ones are not."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from localarc import AutoLARC, replay
from localarc.curves import miscoverage
from localarc.running.record import Record
from localarc.running.size_ratio import Reference, rolling_quantiles
from localarc.validation import FloatArray
from localarc_lab.peers import RollingQuantile

Draw = Callable[[np.random.Generator, FloatArray], FloatArray]


def places(x: FloatArray) -> FloatArray:
    """Three tenths of the inputs are ten times as hard."""
    return np.where(x > 0.7, 10.0, 1.0)


def time(x: FloatArray) -> FloatArray:
    return np.linspace(0.0, 1.0, len(x))


HEALTHY: dict[str, Draw] = {
    "normal": lambda r, x: abs(r.normal(size=len(x))),
    "uneven": lambda r, x: abs(r.normal(size=len(x))) * places(x),
    "squared exponential": lambda r, x: r.exponential(size=len(x)) ** 2,
    "lognormal": lambda r, x: np.exp(r.normal(size=len(x))),
    "lognormal, heavier": lambda r, x: np.exp(2.0 * r.normal(size=len(x))),
    "lognormal, uneven": lambda r, x: np.exp(r.normal(size=len(x))) * places(x),
    "t, 3 degrees": lambda r, x: abs(r.standard_t(3.0, len(x))),
    "t, 2 degrees": lambda r, x: abs(r.standard_t(2.0, len(x))),
    "t, 1.5 degrees": lambda r, x: abs(r.standard_t(1.5, len(x))),
    "Pareto, 1.5": lambda r, x: r.pareto(1.5, len(x)),
    "growing twentyfold": lambda r, x: abs(r.normal(size=len(x))) * np.exp(3.0 * time(x)),
    "falling tenfold": lambda r, x: abs(r.normal(size=len(x))) * np.where(time(x) < 0.5, 10, 1),
    "wandering": lambda r, x: (
        abs(r.normal(size=len(x))) * np.exp(np.cumsum(0.05 * r.normal(size=len(x))))
    ),
    "rounded": lambda r, x: np.round(abs(r.normal(size=len(x)))),
    "negative": lambda r, x: r.normal(size=len(x)) - 3.0,
    "probabilities": lambda r, x: -r.beta(5.0, 1.0, len(x)),
}


def played(draw: Draw, seed: int, widths: float | None = None) -> Record:
    random = np.random.default_rng(seed)
    rounds, alpha = (500, 1000, 3000, 6000)[seed % 4], (0.1, 0.05, 0.2, 0.01, 0.1)[seed % 5]
    x = random.uniform(size=rounds)
    return replay(AutoLARC(alpha), x, miscoverage(draw(random, x), widths=widths))


def with_a_code(share: float) -> Draw:
    """Some outcomes are a code for a missing value, -9999, which no model predicts."""
    return lambda r, x: np.where(r.uniform(size=len(x)) < share, 9999.0, HEALTHY["normal"](r, x))


def check(kind: str, seeds: range) -> None:
    for seed in seeds:
        for widths in (None, 0.0):
            record = played(HEALTHY[kind], seed, widths)
            assert "rolling quantile" not in record.verdict.text, (kind, seed, record.size_ratio)
            if widths is None:
                assert record.size_ratio < 5.0 or kind == "rounded"


@pytest.mark.filterwarnings("ignore::localarc.PromiseWarning")
@pytest.mark.parametrize("kind", HEALTHY)
def test_a_healthy_stream_is_not_accused(kind: str) -> None:
    check(kind, range(2))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::localarc.PromiseWarning")
@pytest.mark.parametrize("kind", HEALTHY)
def test_none_of_400_healthy_streams_is_accused(kind: str) -> None:
    check(kind, range(2, 27))


@pytest.mark.filterwarnings("ignore::localarc.PromiseWarning")
@pytest.mark.parametrize("widths", [None, 0.0])
def test_a_code_for_a_missing_value_makes_sets_that_are_news(widths: float | None) -> None:
    record = played(with_a_code(0.02), 2, widths)
    assert record.size_ratio > 20.0
    assert record.verdict.state == "cautious"
    ratio = f"{float(f'{record.size_ratio:.2g}'):g}"
    assert f"{ratio} times as large as a rolling quantile's" in record.verdict.text


@pytest.mark.filterwarnings("ignore::localarc.PromiseWarning")
def test_neither_unit_nor_origin_of_scores_matters() -> None:
    random, x = np.random.default_rng(0), np.linspace(0.0, 1.0, 2000)
    scores = np.where(np.arange(2000) % 200, abs(random.normal(size=2000)), 9999.0)
    found = [
        replay(RollingQuantile(0.1, 50), x, miscoverage(unit * (scores + origin))).size_ratio
        for unit, origin in ((1.0, 0.0), (1e-6, 0.0), (64.0, -12345.0))
    ]
    assert found == pytest.approx([found[0]] * 3, rel=1e-3)


def test_a_rolling_quantile_is_as_large_as_itself() -> None:
    scores = abs(np.random.default_rng(0).normal(size=5000))
    record = replay(RollingQuantile(0.1), scores, miscoverage(scores, widths=0.0))
    assert record.size_ratio == pytest.approx(1.0, abs=0.01)
    curves = miscoverage(scores)
    rounds = ((scores[t : t + 1], curves[t]) for t in range(5000))
    by_round = replay(RollingQuantile(0.1), rounds)
    assert by_round.size_ratio == pytest.approx(1.0, abs=0.02)


def test_quantiles_are_of_the_latest_scores_before_each_round() -> None:
    scores = np.random.default_rng(0).normal(size=1200)
    low, high = rolling_quantiles(scores, 0.9)
    assert np.isinf(high[:25]).all()
    assert high[1000] == np.sort(scores[500:1000])[math.ceil(501 * 0.9) - 1]
    assert low[1000] == np.sort(scores[500:1000])[math.ceil(501 * 0.45) - 1]
    later = rolling_quantiles(scores[700:], 0.9, scores[:700])[1]
    np.testing.assert_array_equal(later, high[700:])


def test_what_cannot_be_compared_is_unknown() -> None:
    short = miscoverage(np.ones(50), widths=0.0)
    assert math.isnan(Reference.of_curves(short, 0.1).ratio(np.ones(50), np.ones(50)))
    equal = miscoverage(np.ones(500))
    unknown = np.full(500, np.nan)
    assert math.isnan(Reference.of_curves(equal, 0.1).ratio(np.full(500, 9.0), unknown))


def test_a_record_keeps_its_size_ratio(tmp_path: Path) -> None:
    scores = abs(np.random.default_rng(0).normal(size=300))
    for rounds in (50, 300):
        curves = miscoverage(scores[:rounds], widths=0.0)
        record = replay(RollingQuantile(0.1), scores[:rounds], curves)
        record.save(tmp_path / "record")
        np.testing.assert_equal(Record.load(tmp_path / "record").size_ratio, record.size_ratio)
