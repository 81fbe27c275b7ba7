"""A config becomes the calibrator that it describes."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from localarc import (
    ARC,
    LARC,
    RBF,
    Constant,
    Dictionary,
    InverseSqrt,
    KeepAll,
    KeepLast,
    Laplace,
    Lattice,
    Power,
    RationalQuadratic,
)
from localarc.kernels import KERNELS
from localarc_client.wire.config import AutoConfig, LarcConfig, StreamConfig
from localarc_client.wire.config_parts import (
    DictionaryMemory,
    KeepAllMemory,
    KeepLastMemory,
    KernelConfig,
    LatticeMemory,
    RateConfig,
)
from localarc_client.wire.config_reading import read_config
from localarc_service.api.decoding import Decoder
from localarc_service.errors import ApiError
from localarc_service.streams.config_defaults import completed, is_same
from localarc_service.streams.methods import build_calibrator
from localarc_service.streams.methods.parts import kernel_config, kernel_of
from localarc_service.streams.rehearsal import check
from localarc_service.streams.size_limits import MAX_BYTES, check_room


def made(**fields: Any) -> Any:
    usual = {} if "kernel" in fields else {"method": "arc"}
    config = read_config({"alpha": 0.1, **usual, **fields})
    return build_calibrator(completed(config))


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ({}, RBF(1.0)),
        ({"kind": "rbf", "length_scale": [1, 2], "scale": 3}, RBF((1.0, 2.0), 3.0)),
        ({"kind": "laplace", "length_scale": 2}, Laplace(2.0)),
        *(({"kind": name}, kernel()) for name, kernel in KERNELS.items()),
        ({"kind": "rational-quadratic", "shape": 2}, RationalQuadratic(shape=2.0)),
    ],
)
def test_kernels_are_those_of_the_library(kernel: dict[str, Any], expected: Any) -> None:
    assert made(kernel=kernel, features=2).kernel == expected


def test_the_kinds_of_kernels_are_those_of_the_library() -> None:
    assert get_args(get_type_hints(KernelConfig)["kind"]) == tuple(KERNELS)
    described = re.findall(
        '"([a-z0-9-]+)"', str(KernelConfig.__doc__).partition("length_scale :")[0]
    )
    assert set(described) == set(KERNELS)


def test_a_shape_is_for_kernels_that_have_one() -> None:
    with pytest.raises(ValueError, match="applies to rational-quadratic only: omit it for rbf"):
        KernelConfig(shape=2.0)
    with pytest.raises(ValueError, match="applies to the power rate only: omit it for constant"):
        RateConfig("constant", exponent=0.5)


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("squares", [0.3, 1 / 3, [0.1, 2 / 7], 1e-7])
def test_a_denominator_keeps_a_kernel_exact(kind: str, squares: Any) -> None:
    kernel = KERNELS[kind]().replace(squares, 1.5)
    assert kernel_of(kernel_config(kernel)) == kernel
    sent = {"alpha": 0.1, "kernel": {"kind": kind, "denominator": squares}, "features": 2}
    config: Any = completed(read_config(sent))
    assert kernel_of(config.kernel) == KERNELS[kind]().replace(squares, 1.0)
    assert config.kernel.length_scale == pytest.approx(kernel.length_scale)
    assert completed(config) == config
    assert is_same(config, read_config(sent))


def test_a_length_scale_needs_no_denominator() -> None:
    assert kernel_config(RBF((0.3, 12.5))).denominator is None
    config = read_config({"alpha": 0.1, "kernel": {"length_scale": 0.3}, "features": 1})
    assert not is_same(completed(config), LarcConfig(0.1, features=1, kernel=KernelConfig()))


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (0.5, InverseSqrt(0.5)),
        ({"eta": 2}, InverseSqrt(2.0)),
        ({"kind": "constant", "eta": 0.1}, Constant(0.1)),
        ({"kind": "power", "eta": 1}, Power(1.0, 0.5)),
        ({"kind": "power", "eta": 1, "exponent": 0.3}, Power(1.0, 0.3)),
    ],
)
def test_rates_are_those_of_the_library(rate: Any, expected: Any) -> None:
    assert made(rate=rate).settings.rate == expected


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ({"kind": "lattice", "tolerance": 1e-8, "max_bytes": 2**20}, Lattice(1e-8, 2**20)),
        ({"kind": "dictionary", "max_size": 10}, Dictionary(1e-4, 10)),
        ({"kind": "keep-last", "m": 7}, KeepLast(7, archive=False)),
        ({"kind": "keep-all"}, KeepAll()),
    ],
)
def test_memories_are_those_of_the_library(memory: Any, expected: Any) -> None:
    assert made(kernel={}, features=2, memory=memory).memory == expected


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"kernal": {}}, "`kernal`: expected one of method, alpha, features"),
        ({"kernel": {"kind": "gauss"}}, "expected one of cauchy, laplace, matern32"),
        ({"kernel": {"scales": 1}}, "expected one of kind, length_scale, scale, shape, denom"),
        (
            {"method": "arc", "rate": {"kind": "sqrt"}},
            "expected one of constant, inverse-sqrt, pow",
        ),
        ({"method": "arc", "rate": {"step": 1}}, "expected one of kind, eta, exponent."),
        ({"memory": {"kind": "all"}}, "expected one of nodes."),
        ({"kernel": {}, "memory": {"kind": "all"}}, "expected one of lattice, dictionary, keep-l"),
        ({"method": "lark"}, "expected one of auto, arc, larc, mondrian, gate."),
        ({"set": {"kind": "label"}}, "expected one of labels, interval."),
        ({"set": {"kind": "labels", "score": "p"}}, "expected one of cumulative, probability"),
    ],
)
def test_an_unknown_name_is_answered_with_the_valid_ones(
    config: dict[str, Any], words: str
) -> None:
    with pytest.raises(ApiError) as error:
        Decoder(StreamConfig)(json.dumps({"alpha": 0.1, **config}).encode())
    assert words in error.value.detail


def test_a_stream_must_fit_into_a_snapshot() -> None:
    most = MAX_BYTES // (8 * (1024 + 3))
    for m, fits in ((most, True), (most + 1, False)):
        memory = KeepLastMemory(m)
        asked = LarcConfig(0.1, kernel=KernelConfig(), features=1024, memory=memory)
        with contextlib.nullcontext() if fits else pytest.raises(ValueError, match="smaller m"):
            build_calibrator(completed(asked))
    everything = LarcConfig(0.1, kernel=KernelConfig(), features=1024, memory=KeepAllMemory())
    check_room(completed(everything), most - 1)
    with pytest.raises(ValueError, match="reached its size limit"):
        check_room(completed(everything), most)


def test_memory_is_constant_by_default() -> None:
    assert isinstance(made(kernel={}, features=1).memory, Lattice)
    assert isinstance(made(kernel={}, features=2).memory, Lattice)
    assert isinstance(made(kernel={}, features=3).memory, Dictionary)
    assert isinstance(made(kernel={"kind": "cauchy"}, features=1).memory, Dictionary)


@pytest.mark.parametrize(("features", "memory"), [(2, Lattice(max_bytes=2**26)), (3, Dictionary())])
def test_a_calibrator_of_the_library_can_have_the_settings_of_a_stream(
    features: int, memory: Any
) -> None:
    twin = LARC(0.1, RBF(1.0), memory=memory)
    assert twin.state() == made(kernel={}, features=features).state()


def test_arc_has_the_settings_of_the_config() -> None:
    cal = made(rate=0.5, loss_bound=2.0, score_range=[0, 1], initial_threshold=0.25)
    expected = ARC(0.1, 0.5, loss_bound=2.0, score_range=(0.0, 1.0), initial_threshold=0.25)
    assert cal.state() == expected.state()


def test_limits_and_ranges_are_passed_on() -> None:
    cal = made(kernel={}, features=2, clip=0.5, regularization=0.01, score_range=[-1, 0])
    settings = cal.settings
    assert (settings.clip, settings.regularization) == (0.5, 0.01)
    assert settings.score_range == (-1.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("features", [1, 2, 5])
def test_validation_leaves_no_trace(features: int) -> None:
    config = read_config({"alpha": 0.1, "kernel": {}, "features": features})
    before = build_calibrator(completed(config)).state()
    check(completed(config))
    assert build_calibrator(completed(config)).state() == before


@pytest.mark.parametrize("kind", ["rbf", "laplace", "matern52", "triangular", "rational-quadratic"])
@pytest.mark.parametrize("length_scale", [0.1, 0.7, 3, 12.5, [0.3, 1e-3]])
def test_a_stored_config_is_shown_as_it_was_sent(kind: str, length_scale: Any) -> None:
    kernel = {"kind": kind, "length_scale": length_scale}
    sent = {"alpha": 0.1, "kernel": kernel, "features": 2, "set": {"kind": "labels"}}
    config = read_config(sent)
    fits = kind == "rbf"
    memory = LatticeMemory() if fits else DictionaryMemory()
    filled = msgspec.structs.replace(config, tolerance=0.02, memory=memory)
    assert completed(config) == filled


@pytest.mark.parametrize(
    ("alpha", "loss_bound", "tolerance"), [(0.1, 1.0, 0.02), (0.1, 20.0, 0.4), (0.99, 1.0, 0.005)]
)
def test_the_usual_tolerance_is_2_percent_of_the_loss_bound_where_there_is_room(
    alpha: float, loss_bound: float, tolerance: float
) -> None:
    config = completed(AutoConfig(alpha, loss_bound=loss_bound))
    assert config.tolerance == pytest.approx(tolerance)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"features": 2, "feature_names": ["age"]}, "2 different name.s., one per feature"),
        ({"features": 2, "feature_names": ["age", "age"]}, "2 different name.s., one per feature"),
        ({"features": 1, "feature_names": ["age", "age"]}, "1 different name.s., one per feature"),
        ({"tolerance": 0.9}, "Use a smaller tolerance"),
    ],
)
def test_names_and_tolerances_that_cannot_be_are_rejected(
    config: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        made(**config)


@pytest.mark.parametrize("config", [{"tolerance": -0.1}, {"window": 1}, {"feature_names": [""]}])
def test_values_out_of_range_are_rejected(config: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as error:
        Decoder(StreamConfig)(json.dumps({"alpha": 0.1, **config}).encode())
    assert error.value.status == 422
