"""The second engine: Sionna RT, with the same scene.

It finds chains of surfaces with random rays, then solves each with the image method, in single
precision. It traces the paths from one antenna; we apply the phases of the array ourselves, as with
our own tracer.

Constraints:

- The receivers are one array: the antennas, far apart, of a single device. Separate devices would
  be processed one by one in Python.
- Batches have one size, which is part of the compiled program, and are small: Sionna RT stores
  chains in a hash table of the size of the maximum number of paths, and drops collisions.
- `refraction=False`: there is no transmission through walls. `deterministic=True` is not used: it
  needs seven times the memory and four times the time, and runs without it differ only in the order
  of sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer import llvm
from localarc_lab.experiments.beams.raytracer.antenna import steering
from localarc_lab.experiments.beams.raytracer.materials import ComplexArray
from localarc_lab.experiments.beams.raytracer.mitsuba_xml import as_xml
from localarc_lab.experiments.beams.raytracer.scene import Scene, Transmitter

_BATCH = 500
_RAYS = 100_000
_MAX_PATHS = 4_000_000
_PATTERNS = {"tr38901": "tr38901", "isotropic": "iso"}


def trace(scene: Scene, receivers: FloatArray) -> ComplexArray:
    """Return the channel (n, antennas) at outdoor receivers (n, 3)."""
    world = _load(scene, receivers)
    size = min(len(receivers), _BATCH)
    channel = np.empty((len(receivers), scene.transmitter.antennas), dtype=np.complex128)
    for start in range(0, len(receivers), size):
        part = receivers[start : start + size]
        full = np.resize(part, (size, 3))  # the last batch repeats some of its receivers
        channel[start : start + size] = _batch(world, scene.transmitter, full)[: len(part)]
    return channel


def _load(scene: Scene, receivers: FloatArray) -> Any:
    """Sionna RT's scene, with one transmitting antenna and a device at the origin for receivers."""
    llvm.prepare()
    import drjit
    import mitsuba

    if mitsuba.variant() is None:
        mitsuba.set_variant("llvm_ad_mono_polarized")
    if drjit.detail.llvm_version()[0] < llvm.MIN_VERSION:
        raise ImportError(
            f"Dr.Jit has already loaded LLVM {drjit.detail.llvm_version()[0]}, with which Sionna "
            f"RT aborts. Set {llvm.VARIABLE} to {llvm.MIN_VERSION} or newer before importing it."
        )
    from sionna import rt

    transmitter = scene.transmitter
    world = rt.load_scene_from_string(as_xml(scene, receivers))
    world.frequency = transmitter.frequency
    pattern = _PATTERNS[transmitter.pattern]
    world.tx_array = rt.PlanarArray(num_rows=1, num_cols=1, pattern=pattern, polarization="V")
    look = [float(np.radians(transmitter.azimuth)), float(np.radians(transmitter.downtilt)), 0.0]
    world.add(rt.Transmitter("transmitter", [*transmitter.position], orientation=look))
    world.add(rt.Receiver("receivers", [0.0, 0.0, 0.0], orientation=[0.0, 0.0, 0.0]))
    return world


def _batch(world: Any, transmitter: Transmitter, receivers: FloatArray) -> ComplexArray:
    import mitsuba
    from sionna import rt

    positions = (receivers / transmitter.wavelength).T.astype(np.float32)
    element = rt.PlanarArray(num_rows=1, num_cols=1, pattern="iso", polarization="V")
    world.rx_array = rt.AntennaArray(element.antenna_pattern, mitsuba.Point3f(*positions))
    found = rt.PathSolver()(
        world,
        max_depth=2,
        samples_per_src=_RAYS,
        max_num_paths_per_src=_MAX_PATHS,
        synthetic_array=False,  # every antenna of the receiving device has its own position
        refraction=False,
    )
    real, imaginary = (_of_paths(part) for part in found.a)
    delays, zenith, azimuth = (_of_paths(x) for x in (found.tau, found.theta_t, found.phi_t))
    turns = transmitter.frequency * np.where(delays > 0, delays, 0.0)  # -1 where there is no path
    amplitude = (real + 1j * imaginary) * np.exp(-2j * np.pi * turns)
    directions = np.stack(
        [np.sin(zenith) * np.cos(azimuth), np.sin(zenith) * np.sin(azimuth), np.cos(zenith)],
        axis=-1,
    )
    phases = steering(transmitter, directions.reshape(-1, 3))
    phases = phases.reshape(*amplitude.shape, transmitter.antennas)
    channel: ComplexArray = np.einsum("np,npa->na", amplitude, phases)
    return channel


def _of_paths(tensor: Any) -> FloatArray:
    """(receivers, paths), in double precision, of one device, one transmitter and its antenna."""
    values = tensor.numpy().astype(np.float64)
    of_paths: FloatArray = values.reshape(values.shape[1], values.shape[-1])
    return of_paths
