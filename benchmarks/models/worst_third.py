"""The worst third: where, along the local features, coverage is furthest from the target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localarc.validation import FloatArray

FEWEST = 50  # rounds in a third that is judged
BLOCKS = 100  # of consecutive rounds, which are resampled together
DRAWS = 400


@dataclass(frozen=True)
class Thirds:
    """Parts of a stream: low, middle and high values of every local feature."""

    names: tuple[str, ...]
    members: FloatArray  # (parts, n), 1 for rounds of the part

    def distances(self, covered: FloatArray, target: float) -> FloatArray:
        """By part, |coverage - target|; `covered` has one row per method."""
        found = covered @ self.members.T / self.members.sum(axis=1)
        return np.asarray(np.abs(found - target))


@dataclass(frozen=True)
class Worst:
    """The part that is furthest from the target."""

    where: str
    coverage: float
    distance: float
    error: float  # standard error of the distance


def thirds(values: FloatArray, names: tuple[str, ...]) -> Thirds:
    """Parts by the terciles of each column; equal values stay together."""
    labels, members = [], []
    for name, column in zip(names, values.T, strict=True):
        part = np.searchsorted(np.quantile(column, [1 / 3, 2 / 3]), column)
        for k, word in enumerate(("low", "middle", "high")):
            if np.sum(part == k) >= FEWEST:  # ties can leave a part almost empty
                labels.append(f"{word} {name}")
                members.append(part == k)
    if not members:
        raise ValueError(f"no third has {FEWEST} rounds, got {len(values)} rounds.")
    return Thirds(tuple(labels), np.array(members, dtype=np.float64))


def worst(covered: FloatArray, parts: Thirds, target: float) -> tuple[list[Worst], FloatArray]:
    """The worst third of each method, and the standard error of the others' minus the first's."""
    found = parts.distances(covered, target)
    at = found.argmax(axis=1)
    resampled = _resampled(covered, parts, target)
    errors, differences = resampled.std(axis=0), (resampled - resampled[:, :1]).std(axis=0)
    coverage = covered @ parts.members.T / parts.members.sum(axis=1)
    rows = [
        Worst(parts.names[k], float(coverage[m, k]), float(found[m, k]), float(errors[m]))
        for m, k in enumerate(at)
    ]
    return rows, differences


def _resampled(covered: FloatArray, parts: Thirds, target: float) -> FloatArray:
    """The largest distance of each method in every resample of blocks: (draws, methods)."""
    edges = np.linspace(0, covered.shape[1], BLOCKS + 1)
    starts = np.unique(edges[:-1].astype(np.int64))
    counts = np.add.reduceat(parts.members, starts, axis=1)  # (parts, blocks)
    inside = covered[:, None, :] * parts.members[None]
    sums = np.add.reduceat(inside, starts, axis=2)  # (methods, parts, blocks)
    blocks = len(starts)
    random = np.random.default_rng(0)
    times = random.multinomial(blocks, np.full(blocks, 1 / blocks), DRAWS)
    coverage = np.einsum("db,mpb->dmp", times, sums) / np.maximum(times @ counts.T, 1)[:, None]
    return np.asarray(np.abs(coverage - target).max(axis=2))
