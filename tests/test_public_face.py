"""The public face: what users guess is there, and every public name explains itself."""

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import localarc

MODULES = (
    *("localarc", "localarc_client", "localarc_lab.arena", "localarc_lab.compare"),
    *("localarc_lab.data", "localarc_lab.experiments", "localarc_lab.peers"),
    *("localarc.curves", "localarc.figures", "localarc.forecasting"),
    *("localarc.guarantees", "localarc.kernels", "localarc.many", "localarc.memory"),
    *("localarc.measures", "localarc.models", "localarc.monitoring"),
    *("localarc.rates", "localarc.reporting", "localarc.sets"),
    *("localarc.streams", "localarc.testing"),
)
CITED = (  # what others invented says where it comes from
    *("ARC", "LARC", "Mondrian", "RBF", "Laplace", "Matern32", "Matern52", "Cauchy", "Triangular"),
    *("RationalQuadratic", "block_bootstrap", "cumulative_scores", "LabelSets", "Gate", "Monitor"),
    *importlib.import_module("localarc_lab.peers").__all__,
)


def public_names() -> Iterator[Any]:
    """The classes and functions that documented modules export, each once."""
    seen = set()
    for module in MODULES:
        for name in importlib.import_module(module).__all__:
            value = getattr(importlib.import_module(module), name)
            documented = inspect.isclass(value) or inspect.isfunction(value)
            if documented and id(value) not in seen:
                seen.add(id(value))
                yield pytest.param(value, id=f"{module}.{name}")


def is_exception(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)


NAMES = list(public_names())
CONSTRUCTED = [
    name
    for name in NAMES
    if not is_exception(name.values[0]) and not getattr(name.values[0], "_is_protocol", False)
]
every_name = pytest.mark.parametrize("value", NAMES)
every_constructed_name = pytest.mark.parametrize("value", CONSTRUCTED)


def parameters(value: Any) -> list[inspect.Parameter]:
    try:
        listed = list(inspect.signature(value).parameters.values())
    except ValueError:  # an exception or a protocol has none of its own
        return []
    hidden = ("self", "cls", "args", "kwargs")
    return [part for part in listed if part.name not in hidden and part.name[0] != "_"]


def members(value: Any) -> list[Any]:
    """The public methods that a class defines itself."""
    if not inspect.isclass(value):
        return []
    found = [part for name, part in vars(value).items() if not name.startswith("_")]
    return [getattr(part, "__func__", part) for part in found if inspect.isroutine(part)]


@every_constructed_name
def test_a_public_name_lists_its_parameters(value: Any) -> None:
    family = value.__mro__ if inspect.isclass(value) else (value,)
    text = "\n".join(inspect.getdoc(part) or "" for part in family)  # fields may be a base's
    wanted = parameters(value)
    if wanted:
        listed = re.split(r"(?:Parameters|Attributes)\n-{10}\n", text, maxsplit=1)
        assert len(listed) == 2
        section = listed[1]
        missing = [part.name for part in wanted if not re.search(rf"\b{part.name}\b", section)]
        assert not missing


@every_constructed_name
def test_a_public_name_has_an_example_that_runs(value: Any) -> None:
    assert ">>> " in (inspect.getdoc(value) or ""), "doctests run with the other tests"


@every_name
def test_a_public_method_is_described(value: Any) -> None:
    for method in members(value):
        assert inspect.getdoc(method), method


@every_name
def test_no_public_signature_says_any(value: Any) -> None:
    for part in (value, *members(value)):
        if is_exception(part) or getattr(value, "_is_protocol", False):
            continue
        try:
            signature = inspect.signature(part)
        except ValueError:
            continue
        kinds = [str(one.annotation) for one in signature.parameters.values()]
        kinds.append(str(signature.return_annotation))
        loose = [kind for kind in kinds if re.fullmatch(r"(typing\.)?Any( \| None)?", kind)]
        assert not loose, f"{part}: {signature}"


@every_name
def test_what_others_invented_is_cited(value: Any) -> None:
    if value.__name__ in CITED:
        assert "References\n----------" in (inspect.getdoc(value) or "")


def test_every_public_name_can_be_imported() -> None:
    for name in localarc.__all__:
        assert getattr(localarc, name) is not None
    assert set(localarc.__all__) <= set(dir(localarc))
    with pytest.raises(AttributeError, match="no attribute 'control'"):
        _ = localarc.control


def test_modules_are_attributes_without_an_import() -> None:
    code = (
        "import localarc; print(localarc.kernels.RBF, localarc.rates.Power, localarc.__version__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "localarc.kernels" in done.stdout


HEAVY = ("numpy", "numba", "pandas", "pyarrow", "matplotlib", "torch", "rich", "click")


def test_importing_localarc_imports_nothing_heavy() -> None:
    code = f"import sys, localarc; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
