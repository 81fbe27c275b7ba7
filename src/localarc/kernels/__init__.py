"""Kernels: how far one mistake is felt."""

from localarc.kernels.base import Kernel, Product, Sum
from localarc.kernels.custom import Custom, as_kernel
from localarc.kernels.radial import Radial
from localarc.kernels.stationary import (
    RBF,
    Cauchy,
    Laplace,
    Matern32,
    Matern52,
    RationalQuadratic,
    Stationary,
    Triangular,
)

__all__ = [
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
    "as_kernel",
]
