"""Tracing: reproducible, invariant under motions of the scene, and complete."""

from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer import (
    Box,
    Scene,
    Transmitter,
    city,
    draw_receivers,
    engines,
    trace,
    urban,
)
from localarc_lab.experiments.beams.raytracer.image_method import chains, paths
from localarc_lab.experiments.beams.raytracer.materials import GLASS
from localarc_lab.experiments.beams.raytracer.surfaces import Surface, surfaces

SCENE = urban(5)
RECEIVERS = draw_receivers(SCENE, 300, np.random.default_rng(0))


def moved(scene: Scene, matrix: FloatArray, shift: FloatArray, azimuth: float) -> Scene:
    """The scene with all its points transformed by a matrix, then shifted."""

    def image(point: tuple[float, float, float]) -> FloatArray:
        return matrix @ point + shift

    def box(old: Box) -> Box:
        ends = np.array([image(old.lower), image(old.upper)])
        return replace(old, lower=tuple(ends.min(axis=0)), upper=tuple(ends.max(axis=0)))

    mast = replace(
        scene.transmitter, position=tuple(image(scene.transmitter.position)), azimuth=azimuth
    )
    ground = scene.ground + shift[2]
    return replace(scene, transmitter=mast, boxes=tuple(map(box, scene.boxes)), ground=ground)


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="NumPy 1.26 rounds by where arrays are in memory",
)
def test_the_same_scene_has_the_same_channels() -> None:
    assert trace(SCENE, RECEIVERS).tobytes() == trace(SCENE, RECEIVERS).tobytes()


def test_a_receiver_does_not_depend_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    together = trace(SCENE, RECEIVERS)
    alone = np.concatenate([trace(SCENE, receiver) for receiver in RECEIVERS[:9]])
    np.testing.assert_allclose(alone, together[:9], rtol=1e-10, atol=1e-18)
    monkeypatch.setattr(engines, "_CHUNK", 77 * len(SCENE.boxes))
    np.testing.assert_allclose(trace(SCENE, RECEIVERS), together, rtol=1e-10, atol=1e-18)


def test_moving_everything_changes_nothing() -> None:
    shift = np.array([300.0, -70.0, 12.0])
    there = trace(moved(SCENE, np.eye(3), shift, 90.0), RECEIVERS + shift)
    np.testing.assert_allclose(there, trace(SCENE, RECEIVERS), rtol=1e-7, atol=1e-13)


def test_turning_everything_changes_nothing() -> None:
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    there = trace(moved(SCENE, turn, np.zeros(3), 180.0), RECEIVERS @ turn.T)
    np.testing.assert_allclose(there, trace(SCENE, RECEIVERS), rtol=1e-7, atol=1e-13)


def test_in_a_mirror_the_antennas_are_counted_from_the_other_end() -> None:
    flip = np.diag([-1.0, 1.0, 1.0])
    there = trace(moved(SCENE, flip, np.zeros(3), 90.0), RECEIVERS @ flip)
    np.testing.assert_allclose(there[:, ::-1], trace(SCENE, RECEIVERS), rtol=1e-7, atol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_exactly_the_paths_of_an_exhaustive_search_are_found(seed: int) -> None:
    scene = urban(seed, columns=3, rows=2, density=1.0)
    floating = Box((-3.0, -58.0, 40.0), (9.0, -44.0, 42.0), GLASS)
    scene = replace(scene, boxes=(*scene.boxes, floating))
    receivers = draw_receivers(scene, 8, np.random.default_rng(seed))
    receivers[::2, 2] = [5.0, 20.0, 35.0, 60.0]
    found: list[list[float]] = [[] for _ in receivers]
    for group in paths(scene, receivers, chains(scene, receivers)):
        lengths = np.linalg.norm(np.diff(group.corners, axis=0), axis=-1).sum(axis=0)
        for receiver, length in zip(group.receivers, lengths, strict=True):
            found[receiver].append(length)
    for receiver, lengths in zip(receivers, found, strict=True):
        np.testing.assert_allclose(sorted(lengths), slow_lengths(scene, receiver), rtol=1e-12)


def slow_lengths(scene: Scene, receiver: FloatArray) -> list[float]:
    """The lengths of all paths, by an exhaustive search over orders of surfaces."""
    mirrors = surfaces(scene)
    source = np.array(scene.transmitter.position)
    lengths = []
    for chain in ((), *((one,) for one in mirrors), *permutations(mirrors, 2)):
        images = [source]
        for mirror in chain:
            images.append(reflected(images[-1], mirror))
        corners = [receiver]
        for mirror, image in zip(reversed(chain), reversed(images), strict=False):
            rise = image[mirror.axis] - corners[0][mirror.axis]
            share = (mirror.offset - corners[0][mirror.axis]) / rise if rise else -1.0
            corners.insert(0, corners[0] + share * (image - corners[0]))
        corners.insert(0, source)
        if is_path(scene, chain, corners):
            lengths.append(sum(map(np.linalg.norm, np.diff(corners, axis=0))))
    return sorted(float(length) for length in lengths)


def reflected(point: FloatArray, mirror: Surface) -> FloatArray:
    normal = np.eye(3)[mirror.axis]
    return np.asarray(point - 2 * (point[mirror.axis] - mirror.offset) * normal)


def is_path(scene: Scene, chain: tuple[Surface, ...], corners: list[FloatArray]) -> bool:
    """On every mirror, from its front to its front, and through no box."""
    for before, here, after, mirror in zip(corners, corners[1:], corners[2:], chain, strict=False):
        for side in (before, after):
            if mirror.side * (side[mirror.axis] - mirror.offset) <= 1e-9:
                return False
        across = [axis for axis in range(3) if axis != mirror.axis]
        if not all(mirror.lower[a] <= here[a] <= mirror.upper[a] for a in across):
            return False
    return not any(hits(box, start, end) for box in scene.boxes for start, end in pairwise(corners))


def hits(box: Box, start: FloatArray, end: FloatArray) -> bool:
    """Whether any stretch between two crossings of the planes of the faces is inside."""
    marks = {0.0, 1.0}
    for axis in range(3):
        if start[axis] != end[axis]:
            for offset in (box.lower[axis], box.upper[axis]):
                marks.add(float(np.clip((offset - start[axis]) / (end[axis] - start[axis]), 0, 1)))
    ordered = sorted(marks)
    for one, other in pairwise(ordered):
        middle = start + (one + other) / 2 * (end - start)
        if other - one > 1e-9 and (middle > box.lower).all() and (middle < box.upper).all():
            return True
    return False


def test_no_receivers_have_no_channels() -> None:
    assert trace(SCENE, np.empty((0, 3))).shape == (0, 8)


def test_invalid_receivers_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"must have the shape \(n, 3\).*third column"):
        trace(city(), [[0.0, 0.0]])
    with pytest.raises(ValueError, match=r"number 1 at .* in a box.*outdoors\(scene, receivers\)"):
        trace(city(), [[0.0, 0.0, 1.0], [-56.0, -30.0, 1.0]])
    with pytest.raises(ValueError, match="must not be at the position of the transmitter"):
        trace(Scene(Transmitter((0.0, 0.0, 5.0))), [[0.0, 0.0, 5.0]])
    with pytest.raises(ValueError, match="positions must be finite"):
        trace(city(), [[0.0, np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"engine must be one of \('images', 'sionna'\)"):
        trace(city(), [[0.0, 0.0, 1.0]], engine="rays")  # type: ignore[arg-type]
