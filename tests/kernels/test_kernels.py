import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localarc import (
    LARC,
    RBF,
    Cauchy,
    KeepAll,
    Laplace,
    Matern32,
    Matern52,
    RationalQuadratic,
    Triangular,
    engine,
    kernels,
)
from localarc.kernels import Custom, Kernel, Stationary

# Each formula once more, for one number: r is the distance in length scales.
FORMULAS: list[tuple[Stationary, Callable[[float, int], float]]] = [
    (RBF(2.0, 3.0), lambda r, d: math.exp(-(r**2) / 2)),
    (Laplace(2.0, 3.0), lambda r, d: math.exp(-r)),
    (Matern32(2.0, 3.0), lambda r, d: (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r)),
    (
        Matern52(2.0, 3.0),
        lambda r, d: (1 + math.sqrt(5) * r + 5 * r**2 / 3) * math.exp(-math.sqrt(5) * r),
    ),
    (Cauchy(2.0, 3.0), lambda r, d: 1 / (1 + r**2)),
    (Triangular(2.0, 3.0), lambda r, d: max(0.0, 1 - r) ** (d // 2 + 1)),
    (RationalQuadratic(2.0, 3.0, 0.7), lambda r, d: (1 + r**2 / 1.4) ** -0.7),
]
KERNELS = [kernel for kernel, _ in FORMULAS]
COMPOSED: list[Kernel] = [
    RBF.from_paper(1.0) + 0.5 * Laplace(4.0),
    RBF.from_paper(1.0) * Matern32(2.0, 2.0),
    3 * (Cauchy(1.0) * RBF.from_paper(9.0)),
    RBF.from_paper((0.5, 2.0, 9.0)),
]


def points(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize(("kernel", "formula"), FORMULAS)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_a_kernel_is_its_formula(
    kernel: Stationary, formula: Callable[[float, int], float], d: int
) -> None:
    X, z = points(30, d), points(1, d, seed=1)[0]
    r = [float(np.linalg.norm(x - z)) / 2.0 for x in X]
    expected = [3.0 * formula(distance, d) for distance in r]
    assert np.allclose(kernel(X, z), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("kernel", [*KERNELS, *COMPOSED], ids=repr)
@settings(max_examples=25, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000), d=st.integers(1, 6), stretch=st.floats(0.05, 5.0))
def test_a_kernel_matrix_is_positive_semi_definite(
    kernel: Kernel, seed: int, d: int, stretch: float
) -> None:
    if isinstance(kernel, Stationary) and isinstance(kernel.length_scale, tuple):
        d = len(kernel.length_scale)
    X = stretch * points(40, d, seed)
    K = kernel(X, X)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-10 * float(kernel.scale or 1.0)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_compiled_formula_is_the_formula(kernel: Stationary, d: int) -> None:
    u = np.concatenate([[0.0], np.geomspace(1e-12, 600, 400), [0.25, 1.0]])
    profile = engine.named(kernel.compiled, kernel.parameter(d))
    values = [profile.formula(v, profile.parameter) for v in u]
    assert np.allclose(values, kernel.profile(u, d), rtol=2e-13, atol=1e-15)


def test_every_kernel_has_a_name_that_is_the_one_of_its_class_in_lower_case() -> None:
    assert [type(kernel) for kernel in KERNELS] == list(kernels.KERNELS.values())
    names = [name.replace("-", "") for name in kernels.KERNELS]
    assert names == [type(kernel).__name__.lower() for kernel in KERNELS]
    assert kernels.KERNELS["rational-quadratic"] is RationalQuadratic


def test_a_subclass_with_another_formula_is_not_the_compiled_one() -> None:
    class Flat(Triangular):
        def profile(self, u: np.ndarray, dimension: int) -> np.ndarray:
            return np.asarray(np.exp(-u))

    X = points(20, 2)
    flat, gaussian = (LARC(0.1, kernel, memory=KeepAll()) for kernel in (Flat(1.0), RBF(0.5**0.5)))
    for cal in (flat, gaussian):
        for x in X:
            cal.update(x, float(x[0] > 0))
    assert flat.threshold(X[0]) == pytest.approx(gaussian.threshold(X[0]))


def test_the_plain_triangle_is_not_a_kernel_in_the_plane() -> None:
    grid = np.stack(np.meshgrid(range(9), range(9)), -1).reshape(-1, 2) * 0.25
    distances = np.linalg.norm(grid[:, None] - grid[None], axis=2)
    assert np.linalg.eigvalsh(np.maximum(0, 1 - distances)).min() < -0.01
    assert np.linalg.eigvalsh(Triangular(1.0)(grid, grid)).min() > -1e-12


@pytest.mark.parametrize("kernel", [*KERNELS, *COMPOSED[:3]], ids=repr)
@pytest.mark.parametrize("d", [1, 3])
def test_the_lipschitz_constant_bounds_every_slope(kernel: Kernel, d: int) -> None:
    r = np.linspace(0, 12, 40_001)
    line = np.zeros((len(r), d))
    line[:, 0] = r
    slopes = np.abs(np.diff(kernel(line, np.zeros(d)))) / np.diff(r)
    rho = kernel.lipschitz(d)
    assert rho is not None
    assert slopes.max() <= rho * (1 + 1e-9)
    if isinstance(kernel, Stationary):
        assert slopes.max() >= rho * (1 - 1e-3)  # and it is attained


def test_the_papers_length_scale_follows_from_kappa_and_rho() -> None:
    kernel = RBF.from_paper(0.7, scale=1.3)
    rho = kernel.lipschitz() or 0.0
    assert math.isclose(2 / math.e * (1.3 / rho) ** 2, 0.7)


@pytest.mark.parametrize("kernel", [*KERNELS, *COMPOSED], ids=repr)
def test_the_scale_is_the_value_at_distance_zero(kernel: Kernel) -> None:
    X = points(5, 3)
    assert np.allclose(np.diag(kernel(X, X)), kernel.scale or 0.0)
    assert kernel.nonnegative
    assert kernel(X, X).min() >= 0


def test_sums_and_products_are_pointwise() -> None:
    X, z = points(10, 2), np.zeros(2)
    a, b = RBF.from_paper(1.0), Laplace(2.0)
    assert np.allclose((a + b)(X, z), a(X, z) + b(X, z))
    assert np.allclose((a * b)(X, z), a(X, z) * b(X, z))
    assert np.allclose((2.5 * a)(X, z), 2.5 * a(X, z))
    assert np.allclose((2 * (a + b))(X, z), 2 * a(X, z) + 2 * b(X, z))
    assert np.allclose((2 * (a * b))(X, z), 2 * a(X, z) * b(X, z))


def test_length_scales_per_feature_rescale_features() -> None:
    X, z = points(10, 2), np.array([0.3, -0.2])
    assert np.allclose(
        RBF.from_paper((4.0, 0.25))(X, z), RBF.from_paper(1.0)(X * [0.5, 2.0], z * [0.5, 2.0])
    )


def test_rational_quadratic_approaches_rbf() -> None:
    X, z = points(10, 2), np.zeros(2)
    assert np.allclose(RationalQuadratic(1.0, shape=1e8)(X, z), RBF(1.0)(X, z), atol=1e-7)
    assert np.allclose(RationalQuadratic(1.0, shape=1.0)(X, z), Cauchy(math.sqrt(2.0))(X, z))


def test_a_function_is_a_kernel() -> None:
    X, z = points(10, 2), np.zeros(2)
    kernel = Custom(lambda A, x: np.exp(-((A - x) ** 2).sum(axis=1)), scale=1.0, nonnegative=True)
    assert np.allclose(kernel(X, z), RBF.from_paper(1.0)(X, z))
    assert np.allclose((2 * kernel + RBF.from_paper(1.0))(X, z), 3 * RBF.from_paper(1.0)(X, z))
    assert (2 * kernel).scale == 2.0
    assert Custom(lambda A, x: A @ x).lipschitz() is None


def test_the_norm_of_one_bump_is_the_root_of_its_height() -> None:
    assert math.isclose(RBF.from_paper(1.0, 4.0).norm([[0.0, 0.0]], [3.0]), 3.0 * 2.0)
    assert RBF.from_paper(1.0).norm([[0.0], [0.0]], [1.0, -1.0]) == 0.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RBF(0.0), "length_scale must be positive, got 0.0"),
        (lambda: RBF(float("nan")), "length_scale must be finite"),
        (lambda: RBF((1.0, -1.0)), "length_scale must be positive, got -1.0"),
        (lambda: RBF.from_paper(()), "at least one number"),
        (lambda: RBF.from_paper(1.0, scale=-1.0), "scale must not be negative"),
        (lambda: RationalQuadratic(1.0, shape=0.0), "shape must be positive"),
        (lambda: -1 * RBF.from_paper(1.0), "A negative multiple is not a kernel"),
        (lambda: RBF.from_paper((1.0, 2.0))(np.zeros((3, 3)), np.zeros(3)), "one per feature"),
        (lambda: RBF.from_paper(1.0)(np.zeros((3, 2)), np.zeros(3)), "must have 3 feature"),
        (lambda: Custom(lambda X, z: np.zeros(2))(np.zeros((3, 2)), np.zeros(2)), "3 finite"),
    ],
)
def test_a_bad_kernel_says_what_is_wrong(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_a_kernel_adds_to_kernels_only() -> None:
    with pytest.raises(TypeError):
        RBF.from_paper(1.0) + 1.0  # type: ignore[operator]
    with pytest.raises(TypeError, match="function of \\(X, z\\)"):
        Custom("rbf")  # type: ignore[arg-type]
