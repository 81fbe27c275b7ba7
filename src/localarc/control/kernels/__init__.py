"""Kernels: how far one mistake is felt."""

from localarc.control.kernels.custom import Custom, as_kernel
from localarc.control.kernels.radial import Radial
from localarc.control.kernels.role import Kernel, Product, Sum
from localarc.control.kernels.stationary import (
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
