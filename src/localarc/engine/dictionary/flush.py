"""Flush a full buffer into the dictionary: one projection, and new atoms where it is inaccurate.

The buffer's sum g = sum_i weights_i k(x_i, .) is replaced by its projection onto the span of the
atoms. The residual rho is orthogonal to that span and is measured at every point of the buffer.
While it is too large somewhere, the worst point x becomes an atom: with s = k(., x) minus its
projection, rho decreases by rho(x) / s(x) * s, and every number is updated without another solve.
"""

from typing import Any

import numpy as np
from numba import njit

from localarc.engine.numba_tools import OPTIONS, jit
from localarc.engine.tiles import TILE

SINGULAR = 1e-13  # of k(x, x): a point this close to the span of the atoms is no new atom


def _dot(left: Any, right: Any) -> float:
    """The sum of products in the fastest order: the last digits may differ between processors."""
    value = 0.0
    for j in range(len(left)):
        value += left[j] * right[j]
    return value


dot: Any = njit(_dot, **(OPTIONS | {"fastmath": {"contract", "reassoc"}}))


@jit
def add_to(target: Any, weight: float, source: Any) -> None:
    """target += weight * source."""
    for j in range(len(target)):
        target[j] += weight * source[j]


@jit
def solve(factor: Any, size: int, sums: Any, half: Any, solved: Any) -> None:
    """solved = K^-1 sums, where K^-1 = factor^T factor; half = factor sums is a by-product."""
    solved[:size] = 0.0
    for i in range(size):
        half[i] = dot(factor[i, : i + 1], sums[: i + 1])
        add_to(solved[: i + 1], half[i], factor[i, : i + 1])


@jit
def multiply_kernel(to_buffer: Any, weights: Any, peak: float, result: Any) -> None:
    """result = K weights, from the lower triangle of the buffer's kernel matrix."""
    result[:] = 0.0
    for i in range(TILE):
        result[i] += dot(to_buffer[i, :i], weights[:i]) + peak * weights[i]
        add_to(result[:i], weights[i], to_buffer[i, :i])


@jit
def kernel_column(to_buffer: Any, i: int, peak: float, result: Any) -> None:
    """result[j] = k(x_i, x_j) for all points of the buffer."""
    for j in range(TILE):
        result[j] = to_buffer[i, j] if j < i else (to_buffer[j, i] if j > i else peak)


@jit
def project(factor: Any, size: int, to_atoms: Any, weights: Any, lost: Any) -> Any:
    """The coefficients of the projection of g; `lost` is g on entry and rho on return."""
    sums, half, solved = np.zeros(size), np.empty(size), np.zeros(len(factor))
    for i in range(TILE):
        add_to(sums, weights[i], to_atoms[i, :size])
    solve(factor, size, sums, half, solved)
    for i in range(TILE):
        lost[i] -= dot(to_atoms[i, :size], solved[:size])
    return solved


@jit
def find_worst(lost: Any, tried: Any) -> int:
    """The point with the largest residual among those not yet tried; -1 if all were."""
    worst = -1
    for i in range(TILE):
        if not tried[i] and (worst < 0 or abs(lost[i]) > abs(lost[worst])):
            worst = i
    return worst


@jit
def flush(
    atoms: Any, coefs: Any, factor: Any, to_atoms: Any, to_buffer: Any, buffer: Any, size: int,
    limit: float, norm_limit: float, peak: float,
) -> tuple[int, float, float]:  # fmt: skip
    """The new number of atoms, the largest |rho| at the buffer's points, and |rho| as a norm.

    `limit` bounds the residual at the points of the buffer; `norm_limit` bounds |rho|, and thereby
    the residual anywhere. Once the dictionary is full, both may be exceeded.
    """
    dimensions = atoms.shape[1]
    weights = buffer[dimensions]
    past = buffer[dimensions + 2] - weights * buffer[dimensions + 1]
    lost, lost_past, column = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    multiply_kernel(to_buffer, weights, peak, lost)
    multiply_kernel(to_buffer, past, peak, lost_past)
    gained = project(factor, size, to_atoms, weights, lost)
    gained_past = project(factor, size, to_atoms, past, lost_past)
    tried = np.zeros(TILE, np.bool_)
    half, mixed = np.empty(len(factor)), np.empty(len(factor))
    while size < len(factor):
        i = find_worst(lost, tried)
        norm = np.sqrt(max(dot(weights, lost), 0.0))  # |rho|^2 = <rho, g>
        if i < 0 or (abs(lost[i]) <= limit and norm <= norm_limit):
            break
        tried[i] = True
        solve(factor, size, to_atoms[i], half, mixed)
        outside = peak - dot(half[:size], half[:size])
        if outside <= SINGULAR * peak:
            continue
        kernel_column(to_buffer, i, peak, column)
        for j in range(TILE):
            to_atoms[j, size] = column[j]
            column[j] -= dot(to_atoms[j, :size], mixed[:size])
        share, share_past = lost[i] / outside, lost_past[i] / outside
        add_to(lost, -share, column)
        add_to(lost_past, -share_past, column)
        add_to(gained[:size], -share, mixed[:size])
        add_to(gained_past[:size], -share_past, mixed[:size])
        gained[size], gained_past[size] = share, share_past
        length = np.sqrt(outside)
        factor[size, :size] = -mixed[:size] / length
        factor[size, size] = 1.0 / length
        atoms[size // TILE, :, size % TILE] = buffer[:dimensions, i]
        size += 1
    add_to(coefs[0, :size], 1.0, gained[:size])
    add_to(coefs[1, :size], 1.0, gained_past[:size])
    return size, np.abs(lost).max(), np.sqrt(max(dot(weights, lost), 0.0))
