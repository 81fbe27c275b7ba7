"""Replay many exact expansions over one stream, sharing distances and kernel evaluations."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from localarc.engine.exact import batched_loops as loops
from localarc.engine.exact.expansion import ExactExpansion
from localarc.engine.kernels import GAUSSIAN, GAUSSIAN_SINGLE, Profile
from localarc.engine.step import NO_WINDOW
from localarc.engine.stream import Played, Stream
from localarc.engine.tiles import TILE, FloatArray, IntArray, specialise, tiles_for

_MAX_SQUARINGS = 4


def replay_many(
    expansions: Sequence[ExactExpansion],
    streams: Sequence[Stream],
    ratios: Sequence[float] | None = None,
    single: bool = False,
) -> list[Played]:
    """The results, and the expansions' states, of `[e.replay(s) for e, s in zip(...)]`, faster.

    The expansions must be empty, keep all terms and have one kernel; the streams may differ in
    everything but the curves and the points. The points may differ in length scale: squared
    distances in stream r are ratios[r] times those in the first, and the ratios ascend from 1.
    With a ratio other than 1 the results agree up to rounding, with ratio 1 to the last bit.
    `single` evaluates a Gaussian kernel in float32.
    """
    shares = np.ones(len(streams)) if ratios is None else np.asarray(ratios, dtype=np.float64)
    _check(expansions, streams, shares)
    first, profile, dimensions = streams[0], expansions[0].profile, expansions[0].dimensions
    if single:
        profile = _single_precision(profile)
    runs, tiles = len(streams), tiles_for(len(first))
    shared = np.zeros((tiles, dimensions, TILE), np.float32 if single else np.float64)
    weights, joined, folded = np.zeros((3, runs, tiles, TILE))
    pairs = list(zip(expansions, streams, strict=True))
    scalars = np.array([[e.fade, e.clock, s.constant, s.norm] for e, s in pairs])
    rules = np.array([[s.alpha, s.floor, s.clip, s.radius, e.scale] for e, s in pairs])
    thresholds, losses = np.empty((2, runs, len(first)))
    play = specialise(loops.replay, profile, dimensions, loops.kernel, loops.sum_block)
    points, curves, _, _ = first.columns(slice(0, len(first)))
    play(
        (shared, weights, joined, folded),
        scalars,
        rules,
        _scales(shares, profile, shared.dtype),
        profile.peak,
        profile.parameter,
        points - points.mean(axis=0) if single else points,  # float32 has few digits
        curves,
        np.stack([s.rates for s in streams]),
        np.stack([s.decays for s in streams]),
        thresholds,
        losses,
    )
    for r, (expansion, stream) in enumerate(pairs):
        fade, clock = scalars[r, :2].tolist()
        expansion.set_terms(stream.points, weights[r], joined[r], folded[r], fade, clock)
    return [
        Played(thresholds[r], losses[r], float(scalars[r, 2]), float(scalars[r, 3]))
        for r in range(runs)
    ]


def _scales(ratios: FloatArray, profile: Profile, dtype: Any) -> tuple[Any, IntArray, IntArray]:
    """The groups of equal ratios, as the loops expect them.

    A Gaussian at twice the squared distance is its own square: a few multiplications instead of the
    twenty of an exponential. Each squaring doubles the relative error, hence the limit of four.
    """
    values, counts = np.unique(ratios, return_counts=True)
    squarings = np.zeros(len(values), dtype=np.int64)
    if profile == GAUSSIAN:
        powers = np.log2(values[1:] / values[:-1])
        few = (powers == np.rint(powers)) & (np.cumsum(powers) <= _MAX_SQUARINGS)
        squarings[1:] = np.where(few, powers, 0)
    return values.astype(dtype), squarings, np.cumsum(counts)


def _single_precision(profile: Profile) -> Profile:
    if profile != GAUSSIAN:
        raise ValueError(
            f"float32 supports only the Gaussian kernel, got {profile.name or 'a custom kernel'}. "
            "Replay it in float64."
        )
    return GAUSSIAN_SINGLE


def _check(
    expansions: Sequence[ExactExpansion], streams: Sequence[Stream], ratios: FloatArray
) -> None:
    first, kernel = streams[0], expansions[0].profile
    if any(e.count or e.rounds or e.window < NO_WINDOW or e.profile != kernel for e in expansions):
        raise ValueError(
            "replay_many requires empty expansions with one kernel that keep all terms. "
            "Replay the others one by one."
        )
    if len(ratios) != len(streams) or ratios[0] != 1.0 or (np.diff(ratios) < 0).any():
        raise ValueError(
            f"ratios must ascend from 1, one for each of {len(streams)} streams, got {ratios}. "
            "Sort the streams by length scale, the longest first."
        )
    for stream, ratio in zip(streams, ratios, strict=True):
        if not _same_rounds(stream, first, math.sqrt(ratio)):
            raise ValueError(
                "replay_many replays one stream: curves must be the same in all runs, and points "
                "up to the ratio of length scales. Call it once for each stream."
            )


def _same_rounds(stream: Stream, first: Stream, stretch: float) -> bool:
    if stretch == 1.0:
        near = stream.points is first.points or np.array_equal(stream.points, first.points)
    else:
        near = np.allclose(stream.points, stretch * first.points, rtol=1e-12, atol=0.0)
    return near and all(
        mine is theirs or np.array_equal(mine, theirs)
        for mine, theirs in (
            (stream.breakpoints, first.breakpoints),
            (stream.losses, first.losses),
            (stream.offsets, first.offsets),
        )
    )
