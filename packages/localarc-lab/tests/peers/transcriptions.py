"""Published equations, written out slowly, for methods whose code is not in Python.

Each function returns the threshold of every round, given all scores.
"""

from __future__ import annotations

import math

import numpy as np

from localarc.validation import FloatArray


def aci(scores: FloatArray, alpha: float, gamma: float, window: int) -> FloatArray:
    """Gibbs and Candes 2021, equation 2, with R's quantile as in their ACCode.R.

    The first round, which has no quantile, has the threshold 0.
    """
    level, found = alpha + gamma * (alpha - float(scores[0] > 0.0)), np.zeros(len(scores))
    for t in range(1, len(scores)):
        recent = scores[max(t - window, 0) : t]
        found[t] = _quantile(recent, scores[:t], 1.0 - level)
        level += gamma * (alpha - float(scores[t] > found[t]))
    return found


def _quantile(recent: FloatArray, past: FloatArray, level: float) -> float:
    if level >= 1.0:
        return float(past.max())
    if level <= 0.0:
        return math.nextafter(float(past.min()), -math.inf)
    return float(np.quantile(recent, level))


def dtaci_levels(shares: FloatArray, alpha: float, gammas: FloatArray, interval: int) -> FloatArray:
    """Gibbs and Candes 2024, algorithm 1: the mean level of each round, as in their DtACI.R."""
    k, sigma = len(gammas), 1.0 / (2.0 * interval)
    spread = (1.0 - alpha) ** 2 * alpha**3 + alpha**2 * (1.0 - alpha) ** 3
    eta = math.sqrt(3.0 / interval) * math.sqrt((math.log(k * interval) + 2.0) / spread)
    levels, weights, found = [alpha] * k, [1.0] * k, []
    for beta in shares.tolist():
        total = sum(weights)
        found.append(sum(w / total * a for w, a in zip(weights, levels, strict=True)))
        losses = [alpha * (beta - a) - min(0.0, beta - a) for a in levels]
        bars = [w * math.exp(-eta * loss) for w, loss in zip(weights, losses, strict=True)]
        weights = [(1.0 - sigma) * bar + sum(bars) * sigma / k for bar in bars]
        misses = [float(a > beta) for a in levels]
        levels = [a + g * (alpha - m) for a, g, m in zip(levels, gammas, misses, strict=True)]
    return np.array(found)


def boa_mixtures(experts: FloatArray, outcomes: FloatArray, quantile: float) -> FloatArray:
    """Wintenberger 2017 with the rates of opera's BOA.R: the mixture of expert forecasts."""
    count = experts.shape[1]
    variation, regret, found = [0.0] * count, [0.0] * count, []
    for forecasts, outcome in zip(experts.tolist(), outcomes.tolist(), strict=True):
        logs = [
            -math.log(v) / 2.0 + r / math.sqrt(v)
            for v, r in zip(variation, regret, strict=True)
            if v > 0.0
        ]
        shares = [math.exp(each - max(logs)) for each in logs]
        known = iter([each / sum(shares) * len(shares) for each in shares])
        weights = [next(known) if v > 0.0 else 1.0 for v in variation]
        mixture = sum(w * f for w, f in zip(weights, forecasts, strict=True)) / sum(weights)
        found.append(mixture)
        slope = float(outcome < mixture) - quantile
        for i, forecast in enumerate(forecasts):
            r = slope * mixture - slope * forecast
            variation[i] += 2.2 * r**2
            if variation[i] > 0.0:
                regret[i] += r - r**2 / math.sqrt(variation[i])
    return np.array(found)


def rolling(scores: FloatArray, alpha: float, window: int) -> FloatArray:
    """Split conformal prediction on the latest scores; the largest so far if there are too few."""
    found = np.zeros(len(scores))
    for t in range(1, len(scores)):
        recent = sorted(scores[max(t - window, 0) : t])
        rank = math.ceil(round((len(recent) + 1) * (1.0 - alpha), 9))
        found[t] = recent[rank - 1] if rank <= len(recent) else scores[:t].max()
    return found


def nearest(
    X: FloatArray, scores: FloatArray, alpha: float, neighbours: int, window: int
) -> FloatArray:
    """Split conformal prediction on the nearest inputs of the window."""
    found = np.zeros(len(scores))
    for t in range(1, len(scores)):
        recent = slice(max(t - window, 0), t)
        near = np.argsort(_distances(X[recent], X[t]))[:neighbours]
        chosen = sorted(scores[recent][near])
        rank = math.ceil(round((len(chosen) + 1) * (1.0 - alpha), 9))
        found[t] = chosen[rank - 1] if rank <= len(chosen) else scores[:t].max()
    return found


def kernel_weighted(
    X: FloatArray, scores: FloatArray, alpha: float, bandwidth: float, window: int
) -> FloatArray:
    """Guan 2023, equation 3 without adjusting the level: a weighted quantile with an infinity."""
    found = np.zeros(len(scores))
    for t in range(1, len(scores)):
        recent = slice(max(t - window, 0), t)
        weights = np.exp(-_distances(X[recent], X[t]) / bandwidth)
        pairs = sorted(zip(scores[recent].tolist(), weights.tolist(), strict=True))
        reached, needed = 0.0, (1.0 - alpha) * (weights.sum() + 1.0)
        found[t] = scores[:t].max()
        for score, weight in pairs:
            reached += weight
            if reached >= needed:
                found[t] = score
                break
    return found


def _distances(inputs: FloatArray, point: FloatArray) -> FloatArray:
    spread = inputs.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    return np.asarray(np.linalg.norm((inputs - point) / spread, axis=1))
