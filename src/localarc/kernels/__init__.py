"""Kernels: how strongly a round at one input affects the threshold at another."""

from localarc.kernels.base import Kernel, Product, Sum
from localarc.kernels.custom import Custom, Radial
from localarc.kernels.formulas import (
    KERNELS,
    RBF,
    Cauchy,
    Laplace,
    Matern32,
    Matern52,
    RationalQuadratic,
    Triangular,
)
from localarc.kernels.stationary import Stationary

__all__ = [
    "KERNELS",
    "RBF",
    "Cauchy",
    "Custom",
    "Kernel",
    "Laplace",
    "Matern32",
    "Matern52",
    "Product",
    "Radial",
    "RationalQuadratic",
    "Stationary",
    "Sum",
    "Triangular",
]
