"""The project's own streams: AutoLARC without settings against the best of 48 tuned L-ARCs."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from benchmarks.auto import streams
from benchmarks.auto.measured import Measured
from benchmarks.auto.streams import Work
from localarc import (
    LARC,
    RBF,
    AssumptionWarning,
    AutoLARC,
    Constant,
    InverseSqrt,
    KeepAll,
    replay,
)
from localarc import replay_many as run_many
from localarc.measures import Neighbourhood, worst_neighbourhood
from localarc.rates import Rate
from localarc.running.record import Record
from localarc.validation import FloatArray

LENGTHS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # in standard deviations of each feature
STEPS = (0.03, 0.1, 0.3, 1.0)  # in standard deviations of the scores; constant or 10 / sqrt(t)
NEIGHBOURHOOD = 0.2  # length scale of the audit, in standard deviations times sqrt(d)
VALID = 0.1  # a grid point counts if its risk is within 10 % of the target


@dataclass(frozen=True)
class Result:
    """Risk, mean set size and worst neighbourhood of one run."""

    name: str
    risk: float
    size: float
    worst: Neighbourhood


def measure() -> list[Measured]:
    rows = []
    for work in streams.own():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            rows += compare(work)
    return rows


def compare(work: Work) -> list[Measured]:
    mine = _result(work, "AutoLARC", replay(AutoLARC(work.alpha), work.X, work.curves))
    grid = tuned(work)
    best = min(grid, key=lambda result: result.worst.risk)
    error = math.hypot(mine.worst.standard_error, best.worst.standard_error)
    level = mine.worst.risk <= best.worst.risk + 2.0 * error
    larger = mine.size / best.size - 1.0
    better = [r for r in grid if r.worst.risk <= mine.worst.risk and r.size <= mine.size]
    return [
        Measured(work.name, f"AutoLARC, target {work.alpha:g}", _words(mine)),
        Measured(work.name, f"best of {len(grid)}: {best.name}", _words(best)),
        Measured(
            work.name,
            "worst neighbourhood, AutoLARC minus best",
            f"{mine.worst.risk - best.worst.risk:+.3f} ± {error:.3f}",
            "<= 2 errors",
            level,
        ),
        Measured(
            work.name, "sets larger than the best's", f"{larger:+.1%}", "<= 10%", larger <= 0.1
        ),
        Measured(
            work.name,
            "grid points at least as good in both",
            str(len(better)),
            "0, or the two above",
            not better or (level and larger <= 0.1),
        ),
    ]


def tuned(work: Work) -> list[Result]:
    """L-ARC at every length scale and rate, in units that only an oracle knows."""
    scores = streams.scores_of(work)
    unit = float(np.std(scores[np.isfinite(scores)]))
    spread = np.where(work.spread > 0.0, work.spread, 1.0) * math.sqrt(work.X.shape[1])
    found = []
    for length in LENGTHS:
        kernel = RBF(length_scale=tuple(length * spread))
        rates: dict[str, Rate] = {f"{step:g} S": Constant(step * unit) for step in STEPS}
        rates |= {f"{10 * step:g} S / sqrt(t)": InverseSqrt(10 * step * unit) for step in STEPS}
        calibrators = [_larc(work, kernel, rate) for rate in rates.values()]
        records = run_many(calibrators, work.X, work.curves)
        found += [
            _result(work, f"length {length:g} sd, rate {name}", record)
            for name, record in zip(rates, records, strict=True)
        ]
    close = [r for r in found if abs(r.risk - work.alpha) <= VALID * work.alpha]
    return close or found


def _larc(work: Work, kernel: RBF, rate: Rate) -> LARC:
    return LARC(work.alpha, kernel, rate, loss_bound=work.curves.bound, memory=KeepAll())


def _result(work: Work, name: str, record: Record) -> Result:
    return result_of(work, name, record.losses, record.sizes)


def result_of(work: Work, name: str, losses: FloatArray, sizes: FloatArray) -> Result:
    """Measure losses and set sizes."""
    audit = RBF(length_scale=tuple(NEIGHBOURHOOD * math.sqrt(work.X.shape[1]) * work.spread))
    worst = worst_neighbourhood(work.X, losses, audit)
    return Result(name, float(losses.mean()), float(np.nanmean(sizes)), worst)


def _words(result: Result) -> str:
    worst = f"{result.worst.risk:.3f} ± {result.worst.standard_error:.3f}"
    return f"risk {result.risk:.3f}, worst {worst}, size {result.size:.3f}"
