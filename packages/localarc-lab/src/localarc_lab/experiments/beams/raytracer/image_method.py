"""The image method: paths of specular reflection, found by mirroring the transmitter.

A path over surfaces A and B arrives as if it came straight from the transmitter's image, in A, then
in B. The line from the receiver to that image gives the point on B; the line from there to the
image in A gives the point on A.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from localarc.validation import FloatArray, IntArray
from localarc_lab.experiments.beams.raytracer.occlusion import SKIN, clear
from localarc_lab.experiments.beams.raytracer.scene import Scene
from localarc_lab.experiments.beams.raytracer.surfaces import Surface, surfaces

Chain: TypeAlias = tuple[Surface, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Paths over one chain of surfaces: their receivers and corners (order + 2, n, 3)."""

    chain: Chain
    receivers: IntArray
    corners: FloatArray


def chains(scene: Scene, receivers: FloatArray) -> list[Chain]:
    """Return the chains of up to two reflecting surfaces that may reach some receiver."""
    source = np.array(scene.transmitter.position)
    target = _corners(receivers.min(axis=0), receivers.max(axis=0))
    mirrors = surfaces(scene)
    lit = [one for one in mirrors if one.faces(source)]
    routes: list[Chain] = [(one,) for one in lit]
    routes += [(one, other) for one in lit for other in mirrors if _follows(source, one, other)]
    return [(), *(chain for chain in routes if _reaches(source, chain, target))]


def paths(scene: Scene, receivers: FloatArray, routes: Sequence[Chain]) -> Iterator[Paths]:
    """Yield the unobstructed paths to receivers (n, 3) over each chain that has any."""
    source = np.array(scene.transmitter.position)
    for chain in routes:
        found = _unfold(source, chain, receivers)
        for leg in range(len(chain) + 1):
            if len(found.receivers):
                found = _unobstructed(scene, found, leg)
        if len(found.receivers):
            yield found


def _unobstructed(scene: Scene, found: Paths, leg: int) -> Paths:
    start, end = found.corners[leg], found.corners[leg + 1]
    free = clear(scene.boxes, start, end)
    free &= (np.abs(end - start) > SKIN).any(
        axis=1
    )  # a reflection at the edge of two surfaces is no path
    return Paths(found.chain, found.receivers[free], found.corners[:, free])


def _unfold(source: FloatArray, chain: Chain, receivers: FloatArray) -> Paths:
    """The paths over a chain, ignoring obstacles."""
    images = _images(source, chain)
    kept = np.arange(len(receivers))
    corners = [receivers]
    for surface, image in zip(reversed(chain), reversed(images[1:]), strict=True):
        here = surface.faces(corners[0])
        points = surface.crossing(corners[0][here], image)
        inside = surface.contains(points)
        here[here] = inside
        kept = kept[here]
        corners = [points[inside], *(corner[here] for corner in corners)]
    first = np.broadcast_to(source, corners[0].shape)
    return Paths(chain, kept, np.stack([first, *corners]))


def _images(source: FloatArray, chain: Chain) -> list[FloatArray]:
    images = [source]
    for surface in chain:
        images.append(surface.mirror(images[-1]))
    return images


def _follows(source: FloatArray, one: Surface, other: Surface) -> bool:
    """Whether a ray from the source may hit the front of one surface, then the other's."""
    image = one.mirror(source)
    if one is other or not other.faces(image):
        return False
    here, there = _corners(one.lower, one.upper), _corners(other.lower, other.upper)
    opposite = one.faces(there).any() and other.faces(here).any()
    return bool(opposite) and _meets(image, here, other)


def _reaches(source: FloatArray, chain: Chain, target: FloatArray) -> bool:
    """Whether a receiver in the hull of `target` may see the last image through its surface."""
    last = chain[-1]
    return bool(last.faces(target).any()) and _meets(_images(source, chain)[-1], target, last)


def _meets(eye: FloatArray, hull: FloatArray, surface: Surface) -> bool:
    """Whether lines from `eye` to a hull of corners may cross a surface; may return a false yes."""
    reach = hull[:, surface.axis] - eye[surface.axis]
    if not np.isfinite(hull).all() or not (np.sign(reach) == np.sign(reach[0])).all():
        return True
    share = (surface.offset - eye[surface.axis]) / reach
    if (share <= 0).any():
        return True
    shadow = eye + share[:, None] * (hull - eye)
    shadow[:, surface.axis] = surface.offset
    overlap = (shadow.min(axis=0) <= surface.upper) & (shadow.max(axis=0) >= surface.lower)
    return bool(overlap.all())


def _corners(lower: FloatArray, upper: FloatArray) -> FloatArray:
    return np.array(list(product(*zip(lower, upper, strict=True))))
