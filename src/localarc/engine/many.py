"""Replay many exact expansions over one stream, sharing every evaluation of the kernel."""

from collections.abc import Sequence

import numpy as np

from localarc.engine import many_loops as loops
from localarc.engine.exact import FOREVER, ExactExpansion
from localarc.engine.profiles import GAUSSIAN, GAUSSIAN_SINGLE, Profile
from localarc.engine.stream import Played, Stream
from localarc.engine.tiles import TILE, specialise, tiles_for


def replay_many(
    expansions: Sequence[ExactExpansion], streams: Sequence[Stream], single: bool = False
) -> list[Played]:
    """The results, and the expansions' states, of `[e.replay(s) for e, s in zip(...)]`, sooner.

    The expansions must be empty, keep all terms and have one kernel; the streams may differ in
    everything but the points and the curves. `single` evaluates a Gaussian kernel in float32.
    """
    _check(expansions, streams)
    first, profile, dimensions = streams[0], expansions[0].profile, expansions[0].dimensions
    if single:
        profile = _in_single(profile)
    runs, tiles = len(streams), tiles_for(len(first))
    shared = np.zeros((tiles, dimensions, TILE), np.float32 if single else np.float64)
    weights, joined, folded = np.zeros((3, runs, tiles, TILE))
    pairs = list(zip(expansions, streams, strict=True))
    scalars = np.array([[e.fade, e.clock, s.constant, s.norm] for e, s in pairs])
    rules = np.array([[s.alpha, s.clip, s.radius, e.scale] for e, s in pairs])
    thresholds, losses = np.empty((2, runs, len(first)))
    play = specialise(loops.replay, profile, dimensions, loops.hear)
    points, curves, _, _ = first.columns(slice(0, len(first)))
    play(
        (shared, weights, joined, folded),
        scalars,
        rules,
        profile.peak,
        profile.parameter,
        points - points.mean(axis=0) if single else points,  # float32 has no digits to spare
        curves,
        np.stack([s.rates for s in streams]),
        np.stack([s.decays for s in streams]),
        thresholds,
        losses,
    )
    for r, expansion in enumerate(expansions):
        fade, clock = scalars[r, :2].tolist()
        expansion.take(first.points, weights[r], joined[r], folded[r], fade, clock)
    return [
        Played(thresholds[r], losses[r], float(scalars[r, 2]), float(scalars[r, 3]))
        for r in range(runs)
    ]


def _in_single(profile: Profile) -> Profile:
    if profile != GAUSSIAN:
        raise ValueError(
            f"float32 serves the Gaussian kernel alone, got {profile.name or 'a custom kernel'}. "
            "Replay it in float64."
        )
    return GAUSSIAN_SINGLE


def _check(expansions: Sequence[ExactExpansion], streams: Sequence[Stream]) -> None:
    first, kernel = streams[0], expansions[0].profile
    if any(e.count or e.rounds or e.window < FOREVER or e.profile != kernel for e in expansions):
        raise ValueError(
            "replay_many shares one kernel among expansions that are empty and keep all terms. "
            "Replay the others one by one."
        )
    for stream in streams[1:]:
        for mine, theirs in zip(
            (stream.points, stream.breakpoints, stream.losses, stream.offsets),
            (first.points, first.breakpoints, first.losses, first.offsets),
            strict=True,
        ):
            if mine is not theirs and not np.array_equal(mine, theirs):
                raise ValueError(
                    "replay_many plays one stream: points and curves must be the same in all runs. "
                    "Call it once for each stream, or for each length scale."
                )
