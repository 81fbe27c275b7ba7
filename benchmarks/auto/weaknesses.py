"""Where AutoLARC loses: stationary streams, heavy tails, many features, very late losses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.auto import streams
from benchmarks.auto.measured import Measured, plain, with_error
from benchmarks.auto.own_streams import result_of
from benchmarks.auto.streams import Work
from localarc import ARC, AutoLARC, replay
from localarc.curves import miscoverage
from localarc.streams.synthetic import spread
from localarc.validation import FloatArray

ALPHA = 0.1
NORMAL_QUANTILE = 1.6448536269514722  # of |normal|, at 0.9
SEEDS = range(5)
DELAYS = (0, 10, 100, 1000)
TAILS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal errors": lambda random, n: random.normal(size=n),
    "Student errors, 3 degrees of freedom": lambda random, n: random.standard_t(3, n),
    "Cauchy errors": lambda random, n: random.standard_cauchy(n),
    "lognormal errors, sigma 3": lambda random, n: random.lognormal(0.0, 3.0, n),
}


def measure() -> list[Measured]:
    return [*_stationary(), *_heavy_tails(), *_many_features(), *_delays()]


def _stationary() -> list[Measured]:
    """Where nothing changes, against the true quantile at every input."""
    ratios = []
    for seed in SEEDS:
        work = streams.synthetic(False, seed=seed)
        run = replay(AutoLARC(ALPHA), work.X, work.curves)
        ratios.append(run.thresholds.mean() / (NORMAL_QUANTILE * spread(work.X)).mean())
    text = with_error(ratios)
    return [plain("stationary, 10,000 rounds", "size over the oracle's", 0.0, text)]


def _heavy_tails() -> list[Measured]:
    """Scores that do not depend on the input, against their quantile: mean and median threshold."""
    rows = []
    for name, draw in TAILS.items():
        means, medians = [], []
        for seed in SEEDS:
            random = np.random.default_rng(seed)
            X, scores = random.uniform(size=(10_000, 2)), np.abs(draw(random, 10_000))
            found = replay(AutoLARC(ALPHA), X, miscoverage(scores, widths=0.0)).thresholds
            ratios = found / np.quantile(scores, 1.0 - ALPHA)
            means.append(ratios.mean())
            medians.append(np.median(ratios))
        text = f"{with_error(means)}; {with_error(medians)}"
        rows.append(plain(name, "mean over the quantile; median over it", 0.0, text))
    return rows


def _many_features() -> list[Measured]:
    """Nine features of which one matters, 2,000 rounds."""
    rows: dict[str, list[tuple[float, float]]] = {"AutoLARC": [], "ARC": []}
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        X = random.uniform(size=(2000, 9))
        scores = np.abs(random.normal(size=2000)) * (0.3 + 1.7 * X[:, 0])
        work = Work("nine features", X, miscoverage(scores, widths=0.0), ALPHA)
        for name, cal in (("AutoLARC", AutoLARC(ALPHA)), ("ARC", ARC(ALPHA))):
            run = replay(cal, X, work.curves)
            hard = run.losses[X[:, 0] > 0.75].mean()
            rows[name].append((float(hard), float(np.nanmean(run.sizes))))
    return [
        plain(
            "nine features, 2,000 rounds",
            f"{name}: risk in the hard quarter; size",
            0.0,
            "; ".join(with_error(column) for column in zip(*values, strict=True)),
        )
        for name, values in rows.items()
    ]


def _delays() -> list[Measured]:
    """Every loss late by a fixed number of rounds."""
    rows = []
    work = streams.synthetic(True)
    for delay in DELAYS:
        thresholds = delayed(AutoLARC(ALPHA), work, delay)
        losses = work.curves.losses_at(thresholds)
        result = result_of(work, "late", losses, work.curves.sizes_at(thresholds))
        text = f"risk {result.risk:.3f}, worst {result.worst.risk:.3f}, size {result.size:.3f}"
        rows.append(plain(f"{work.name}, 10,000 rounds", f"late by {delay}", result.risk, text))
    return rows


def delayed(cal: AutoLARC, work: Work, delay: int) -> FloatArray:
    """Thresholds, when each loss arrives `delay` rounds later."""
    n, scores = len(work), streams.scores_of(work).tolist()
    thresholds, tickets = np.empty(n), []
    for t in range(n):
        tickets.append(cal.ask(work.X[t]))
        thresholds[t] = tickets[t].threshold
        if t >= delay:
            s = t - delay
            cal.tell(tickets[s], float(scores[s] > thresholds[s]), score=scores[s])
    return thresholds
