"""The formulas, and the arithmetic under them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from engine.reference import PARAMETERS, formulas
from localarc.engine import ExactExpansion, Profile, custom, exp_minus, named
from localarc.engine.exponential import log

PROFILES = [named(name, PARAMETERS.get(name, 0.0)) for name in formulas(3)]


@settings(derandomize=True)
@given(st.floats(0, 700))
def test_exp_minus_is_exp_of_minus(v: float) -> None:
    assert exp_minus(v) == pytest.approx(math.exp(-v), rel=1e-15 + 2e-16 * v, abs=0)


def test_exp_minus_is_one_at_zero_and_vanishes_far_away() -> None:
    assert exp_minus(0.0) == 1.0
    assert 0 <= exp_minus(1e300) < 1e-300


@settings(derandomize=True)
@given(st.floats(1e-300, 1e300))
def test_log_is_log(v: float) -> None:
    assert log(v) == pytest.approx(math.log(v), rel=1e-15, abs=1e-15)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: str(p.name))
def test_each_profile_is_its_formula(profile: Profile) -> None:
    u = np.concatenate([[0.0], np.geomspace(1e-12, 600, 400), [0.25, 1.0]])
    values = [profile.formula(v, profile.parameter) for v in u]
    np.testing.assert_allclose(values, formulas(3)[profile.name](u), rtol=2e-13, atol=1e-15)
    assert profile.formula(0.0, profile.parameter) == profile.peak


def test_a_rational_quadratic_of_large_shape_is_gaussian() -> None:
    profile = named("rational_quadratic", 1e12)
    assert profile.formula(2.0, 1e12) == pytest.approx(math.exp(-2.0), rel=1e-11)


@pytest.mark.slow
def test_a_custom_formula_runs_in_the_same_loops() -> None:
    @njit
    def inverse_multiquadric(u: float) -> float:
        return 1.0 / math.sqrt(1.0 + u)

    profile = custom(inverse_multiquadric)
    assert profile.peak == 1.0
    expansion = ExactExpansion(profile, dimensions=2, scale=3.0)
    expansion.add(np.array([0.0, 0.0]), 2.0)
    assert expansion.evaluate_one(np.array([1.0, 2.0])) == pytest.approx(6 / math.sqrt(6))
