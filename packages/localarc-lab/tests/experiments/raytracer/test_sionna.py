"""Our tracer against Sionna RT: two programs, one scene, one answer.

`make beams` installs Sionna RT and runs this; elsewhere it is skipped where something is missing.
"""

import os
import subprocess
import sys
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from localarc_lab.experiments.beams.codebook import fourier
from localarc_lab.experiments.beams.raytracer import (
    Box,
    Engine,
    Scene,
    city,
    draw_receivers,
    llvm,
    trace,
    urban,
)
from localarc_lab.experiments.beams.raytracer.materials import BRICK, GLASS, METAL


@pytest.fixture(autouse=True)
def _sionna() -> None:
    try:
        llvm.prepare()
    except ImportError as missing:
        if os.environ.get("LOCALARC_REQUIRE_SIONNA"):
            raise
        pytest.skip(str(missing))


def test_the_library_is_chosen_before_anything_loads_another() -> None:
    prepared = (
        "import sys; from localarc_lab.experiments.beams.raytracer import llvm; llvm.prepare(); "
        "print(*sys.modules)"
    )
    names = subprocess.run(
        [sys.executable, "-c", prepared], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"sionna", "mitsuba", "drjit"} & set(names)


def mixed() -> Scene:
    """Several materials, a roof that floats, an isotropic mast, a ground that is not at zero."""
    scene = urban(11)
    materials = (BRICK, GLASS, METAL)
    boxes = [
        replace(box, material=materials[number % 3], lower=(*box.lower[:2], 2.0))
        for number, box in enumerate(scene.boxes)
    ]
    roof = Box((-12.0, -49.0, 26.0), (12.0, -40.0, 27.0))
    mast = replace(scene.transmitter, pattern="isotropic", antennas=5, azimuth=70.0, downtilt=5.0)
    return Scene(mast, (*boxes, roof), ground=2.0)


@pytest.mark.parametrize("scene", [city(), urban(1), mixed()], ids=["city", "urban", "mixed"])
def test_both_engines_agree_on_the_field_and_the_best_beam(scene: Scene) -> None:
    receivers = draw_receivers(scene, 500, np.random.default_rng(0))
    ours, theirs = trace(scene, receivers), trace(scene, receivers, engine="sionna")
    codebook = fourier(scene.transmitter.antennas, 11)
    gains = [np.abs(channel @ codebook.T) for channel in (ours, theirs)]
    served = (gains[0].max(axis=1) > 1e-6) | (gains[1].max(axis=1) > 1e-6)
    assert served.mean() > 0.5
    same = gains[0].argmax(axis=1) == gains[1].argmax(axis=1)
    assert same[served].mean() >= 0.98
    size = np.linalg.norm(ours[served], axis=1)
    errors = np.linalg.norm((ours - theirs)[served], axis=1) / np.where(size > 0, size, 1e-300)
    assert np.median(errors) <= 1e-3
    print(
        f"same best beam {same[served].mean():.4f}, relative field error: median "
        f"{np.median(errors):.1e}, 99th percentile {np.percentile(errors, 99):.1e}"
    )


def test_receivers_beyond_a_full_batch_are_served_alike() -> None:
    scene = city()
    receivers = draw_receivers(scene, 520, np.random.default_rng(1))
    ours, theirs = trace(scene, receivers), trace(scene, receivers, engine="sionna")
    last = slice(500, 520)
    np.testing.assert_allclose(theirs[last], ours[last], atol=1e-2 * np.abs(ours).max())
    assert np.count_nonzero(ours[last].any(axis=1)) > 10


def test_both_engines_know_darkness_and_an_empty_plain() -> None:
    mast = city().transmitter
    wall = Box((-500.0, 0.0, 0.0), (500.0, 5.0, 29.9))
    behind = [[0.0, 6.0, 1.0]]
    assert not trace(Scene(mast, (wall,)), behind, engine="sionna").any()
    ours, theirs = (trace(Scene(mast), behind, engine=name) for name in get_args(Engine))
    np.testing.assert_allclose(theirs, ours, rtol=2e-3)
