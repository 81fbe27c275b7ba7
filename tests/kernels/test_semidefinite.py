"""A function that is no kernel is rejected with the evidence; what is not known is stated."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from localarc import (
    LARC,
    RBF,
    Cauchy,
    Dictionary,
    KeepAll,
    KeepLast,
    Laplace,
    Panel,
    RationalQuadratic,
)
from localarc.kernels import KERNELS, Custom, Kernel, Radial, Stationary
from localarc.memory import Memory


def box(u: float) -> float:
    return float(u < 1.0)


def triangle(u: float) -> float:
    return max(0.0, 1.0 - math.sqrt(u))


def wave(u: float) -> float:
    """Positive semi-definite with up to three features, and not with more."""
    return math.sin(math.sqrt(u)) / math.sqrt(u) if u else 1.0


def box_of(X: Any, z: Any) -> Any:
    return (np.abs(X - z).max(axis=1) < 1.0) * 1.0


def bump(X: Any, z: Any) -> Any:
    return np.exp(-((X - z) ** 2).sum(axis=1))


def minimum(X: Any, z: Any) -> Any:
    """A kernel of positive numbers only: the covariance of Brownian motion."""
    return np.minimum(X[:, 0], z[0])


def table(X: Any, z: Any) -> Any:
    """A kernel of categories 0, 1, 2; any other number is no row of the table."""
    if not np.isin(X, (0, 1, 2)).all():
        raise KeyError("no such category")
    return np.eye(3)[X[:, 0].astype(int), int(z[0])]


NO_KERNELS: dict[str, Callable[[float], float]] = {
    "box": box,
    "parabola": lambda u: max(0.0, 1.0 - u),
    "flatter than a Gaussian": lambda u: math.exp(-(u**1.5)),
    "hardly flatter than a Gaussian": lambda u: math.exp(-(u**1.02)),
    "grows": lambda u: math.sqrt(1.0 + u),
}


@pytest.mark.parametrize("function", NO_KERNELS.values(), ids=NO_KERNELS.keys())
def test_a_radial_function_that_is_never_a_kernel_is_rejected_when_made(
    function: Callable[[float], float],
) -> None:
    with pytest.raises(ValueError, match=r"is not positive semi-definite .* eigenvalue -"):
        Radial(function)


MEMORIES: list[Memory] = [KeepAll(), KeepLast(5), Dictionary()]


@pytest.mark.parametrize("memory", MEMORIES, ids=repr)
def test_a_radial_function_is_rejected_from_the_number_of_features_on(memory: Memory) -> None:
    cal = LARC(0.1, Radial(triangle), memory=memory)
    before = cal.state()
    with pytest.raises(ValueError, match=r"with 2 feature\(s\): its matrix .* eigenvalue -0\.\d"):
        cal.update([0.0, 0.0], 1.0)
    assert cal.state() == before
    with pytest.raises(ValueError, match=r"with 2 feature\(s\)"):
        Panel(LARC(0.1, Radial(triangle), memory=memory)).update(["a"], [[0.0, 0.0]], [1.0])


def test_the_number_of_features_is_known_from_length_scales() -> None:
    Radial(triangle, length_scale=[2.0])
    with pytest.raises(ValueError, match=r"with 2 feature\(s\)"):
        Radial(triangle, length_scale=[2.0, 3.0])


def test_a_counterexample_in_six_dimensions_is_found_in_ten() -> None:
    Radial(wave).check_positive_semidefinite(3)
    for features in (6, 10):
        with pytest.raises(ValueError, match=rf"with {features} feature\(s\)"):
            Radial(wave).check_positive_semidefinite(features)


@pytest.mark.parametrize("length", [0.02, 1.0, 300.0])
def test_a_function_of_points_is_rejected_whatever_its_units(length: float) -> None:
    cal = LARC(0.1, Custom(lambda X, z: box_of(X / length, z / length), scale=1.0))
    before = cal.state()
    with pytest.raises(ValueError, match=r"eigenvalue -.* entries up to 1\. .*sample=X"):
        cal.update([0.0, 0.0], 1.0)
    assert cal.state() == before


def test_a_function_that_is_not_symmetric_is_rejected() -> None:
    cal = LARC(0.1, Custom(lambda X, z: np.exp(X[:, 0] - z[0]), scale=1.0))
    with pytest.raises(ValueError, match=r"k\(x, z\) and k\(z, x\) differ by"):
        cal.update([0.0], 1.0)


def test_a_sum_or_product_with_one_is_rejected() -> None:
    for kernel in (0.1 * RBF(1.0) + Custom(box_of), RBF(100.0) * Custom(box_of)):
        with pytest.raises(ValueError, match="is not positive semi-definite"):
            kernel.check_positive_semidefinite(2)


def test_a_kernel_of_some_inputs_only_is_checked_at_a_sample_of_them() -> None:
    with pytest.raises(ValueError, match=r"sample=X"):
        LARC(0.1, Custom(minimum, scale=5.0)).update([1.0], 1.0)
    good = Custom(minimum, scale=5.0, sample=np.linspace(0.0, 5.0, 1000))
    assert LARC(0.1, good).update([1.0], 1.0).rounds == 1
    assert (good.positive_semidefinite, (2 * good).positive_semidefinite) == ("checked",) * 2
    with pytest.raises(ValueError, match="eigenvalue -"):
        Custom(minimum, scale=5.0, sample=[[-1.0], [1.0]])


def test_an_error_at_the_users_own_sample_is_raised() -> None:
    with pytest.raises(KeyError, match="no such category"):
        Custom(table, sample=[[0.5]])


FORMULAS: list[Kernel] = [
    *(kernel() for kernel in KERNELS.values()),
    RationalQuadratic(shape=0.3),
    RBF() + 2 * Laplace() * Cauchy(),
]


@pytest.mark.parametrize("kernel", FORMULAS, ids=repr)
def test_our_kernels_are_known_by_a_theorem_and_assume_nothing(kernel: Kernel) -> None:
    assert (kernel.positive_semidefinite, kernel.assumption) == ("known", None)


@pytest.mark.parametrize("kernel", FORMULAS, ids=repr)
@pytest.mark.parametrize("features", [1, 2, 3, 5])
def test_the_search_finds_nothing_against_our_kernels(kernel: Kernel, features: int) -> None:
    assert kernel._search(features)


def test_what_is_not_known_is_an_assumption() -> None:
    function = Custom(bump, scale=1.0)
    before = function.positive_semidefinite, function.assumption
    assert before == ("assumed", "positive semi-definite kernel, not checked")
    LARC(0.1, function).update([0.0], 1.0)
    after = function.positive_semidefinite, function.assumption
    assert after == ("checked", "positive semi-definite kernel, checked at some points")
    assert (RBF() + Custom(bump)).positive_semidefinite == "assumed"
    assert Radial(lambda u: 1.0 / (1.0 + u)).positive_semidefinite == "checked"


def test_a_function_that_takes_no_random_inputs_stays_an_assumption() -> None:
    categories = Custom(table, scale=1.0)
    LARC(0.1, categories).update([2.0], 1.0)
    assert categories.positive_semidefinite == "assumed"


def test_a_class_of_your_own_is_checked_unless_it_states_a_theorem() -> None:
    class Box(Stationary):
        def profile(self, u: Any, dimension: int) -> Any:
            return (u < 1.0) * 1.0

        def steepness(self, dimension: int) -> float:
            return math.inf

    class Trusted(Box):
        proven = True

    with pytest.raises(ValueError, match="eigenvalue -"):
        LARC(0.1, Box()).update([0.0], 1.0)
    assert LARC(0.1, Trusted()).update([0.0], 1.0).rounds == 1


def test_a_kernel_is_checked_once_for_each_number_of_features() -> None:
    calls = 0

    def counted(X: Any, z: Any) -> Any:
        nonlocal calls
        calls += 1
        return bump(X, z)

    kernel = Custom(counted)
    kernel.check_positive_semidefinite(2)
    once = calls
    for twin in (kernel, copy.copy(kernel)):
        twin.check_positive_semidefinite(2)
    assert 0 < once == calls
    kernel.check_positive_semidefinite(3)
    assert calls == 2 * once


def test_a_checked_kernel_equals_and_stores_as_an_unchecked_one() -> None:
    checked, fresh = Custom(bump, scale=1.0), Custom(bump, scale=1.0)
    checked.check_positive_semidefinite(1)
    assert (checked, hash(checked)) == (fresh, hash(fresh))
    assert pickle.loads(pickle.dumps(checked)) == fresh


def test_a_norm_that_is_none_is_an_error() -> None:
    points = np.linspace(0.0, 2.0, 3)
    with pytest.raises(ValueError, match=r"squared norm is -2: .* not positive semi-definite"):
        Custom(lambda X, z: (np.abs(X - z).max(axis=1) < 1.5) * 1.0).norm(points, [1.0, -2.0, 1.0])


def test_a_norm_that_is_zero_but_for_rounding_is_zero() -> None:
    centres = [[0.1], [0.1], [0.1]]
    assert RBF(1.0, scale=0.3).norm(centres, [0.1, 0.2, -0.3]) < 1e-8
