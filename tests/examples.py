"""Calibrators, kernels and streams that many tests share, and how to combine cases sparingly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any, TypeVar

import numpy as np

from localarc import (
    ARC,
    LARC,
    RBF,
    Cauchy,
    Constant,
    Dictionary,
    KeepAll,
    KeepLast,
    Laplace,
    Matern52,
    Mondrian,
    Power,
    RationalQuadratic,
    Triangular,
    kernels,
)
from localarc.calibrators.base import BaseCalibrator
from localarc.curves import Curves, miscoverage
from localarc.kernels import Custom, Kernel

Left = TypeVar("Left")
Right = TypeVar("Right")
Make = Callable[..., BaseCalibrator]


def bump(X: Any, z: Any) -> Any:
    """A kernel in Python."""
    return np.exp(-((X - z) ** 2).sum(axis=1))


def side(x: Any) -> bool:
    """Which side of the first axis an input lies on."""
    return bool(x[0] > 0)


KERNELS: dict[str, Kernel] = {
    **{kernel.__name__: kernel(1.0) for kernel in kernels.KERNELS.values()},
    "RBF": RBF.from_paper(1.0),
    "Laplace": Laplace(1.4),
    "Matern52": Matern52(0.7, 2.0),
    "Triangular": Triangular(2.0),
    "RationalQuadratic": RationalQuadratic(0.7, shape=2.0),
    "RBF per feature": RBF.from_paper((0.5, 3.0)),
    "sum": RBF.from_paper(1.0) + 0.5 * Laplace(2.0),
    "product": RBF.from_paper(1.0) * Cauchy(1.4),
    "custom": Custom(lambda X, z: np.exp(-np.abs(X - z).sum(axis=1)), scale=1.0),
}

# Each takes a target and further settings, so that a test can choose its own.
CALIBRATORS: dict[str, Make] = {
    "ARC": lambda alpha=0.2, **more: ARC(alpha, 0.5, initial_threshold=0.3, **more),
    "ARC, power": lambda alpha=0.2, **more: ARC(
        alpha, Power(0.5, 0.7), score_range=(0.0, 3.0), **more
    ),
    "exact": lambda alpha=0.2, **more: LARC(alpha, KERNELS["RBF"], memory=KeepAll(), **more),
    "lattice": lambda alpha=0.2, **more: LARC(alpha, KERNELS["RBF"], **more),
    "dictionary": lambda alpha=0.2, **more: LARC(
        alpha, Laplace(1.0), memory=Dictionary(1e-2, 16), **more
    ),
    "window": lambda alpha=0.2, **more: LARC(
        alpha, KERNELS["RBF"], Constant(0.1), memory=KeepLast(9), **more
    ),
    "window, no archive": lambda alpha=0.2, **more: LARC(
        alpha, KERNELS["RBF"], memory=KeepLast(7, archive=False), **more
    ),
    "ball": lambda alpha=0.2, **more: LARC(
        alpha, KERNELS["RBF"], memory=KeepAll(), radius=0.4, clip=0.3, **more
    ),
    "in Python": lambda alpha=0.2, **more: LARC(
        alpha, Custom(bump, scale=1.0), regularization=0.1, **more
    ),
    "in Python, ball": lambda alpha=0.2, **more: LARC(
        alpha, Custom(bump, scale=1.0), radius=0.4, **more
    ),
    "in Python, window": lambda alpha=0.2, **more: LARC(
        alpha, Custom(bump, scale=1.0), memory=KeepLast(9), **more
    ),
    "groups": lambda alpha=0.2, **more: Mondrian(
        lambda: LARC(alpha, KERNELS["RBF"], memory=KeepAll(), **more)
    ),
    "groups of inputs": lambda alpha=0.2, **more: Mondrian(lambda: ARC(alpha, **more), side),
    "groups in groups": lambda alpha=0.2, **more: Mondrian(
        lambda: Mondrian(lambda: ARC(alpha, **more), side), side
    ),
}


def stream(T: int, d: int = 2, seed: int = 0, spread: float = 1.0) -> tuple[Any, Curves]:
    """Inputs and miscoverage curves whose scores grow with the first feature."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(T, d)) * spread
    return X, miscoverage(np.abs(random.normal(size=T)) * (0.2 + np.abs(X[:, 0]) / spread))


def online(cal: Any, X: Any, curves: Curves) -> tuple[Any, Any]:
    """Thresholds and losses of the plain loop."""
    thresholds, losses = np.zeros((2, len(X)))
    for t, x in enumerate(X):
        thresholds[t] = cal.threshold(x)
        losses[t] = curves.loss_at(t, thresholds[t])
        cal.update(x, losses[t])
    return thresholds, losses


def sparse(left: Sequence[Left], right: Sequence[Right]) -> list[tuple[Left, Right]]:
    """Each value of both sides with the other's first, and a diagonal, instead of all pairs."""
    rows = [(i, 0) for i in range(len(left))] + [(0, j) for j in range(len(right))]
    rows += [(k % len(left), k % len(right)) for k in range(max(len(left), len(right)))]
    return [(left[i], right[j]) for i, j in dict.fromkeys(rows)]


def pairwise(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Rows in which every pair of values of two axes occurs, far fewer than the product."""
    sides = list(combinations(range(len(axes)), 2))
    open_pairs = {
        (a, b, i, j) for a, b in sides for i in range(len(axes[a])) for j in range(len(axes[b]))
    }
    rows = []
    everything = list(product(*(range(len(axis)) for axis in axes)))
    while open_pairs:
        row = max(everything, key=lambda row: len(open_pairs & _pairs(row, sides)))
        open_pairs -= _pairs(row, sides)
        rows.append(tuple(axis[i] for axis, i in zip(axes, row, strict=True)))
    return rows


def _pairs(row: tuple[int, ...], sides: list[tuple[int, int]]) -> set[tuple[int, int, int, int]]:
    return {(a, b, row[a], row[b]) for a, b in sides}
