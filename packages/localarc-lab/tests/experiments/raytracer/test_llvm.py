"""Finding LLVM: old versions are rejected with a reason, and never loaded here."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata

import pytest

from localarc_lab.experiments.beams.raytracer import city, llvm, trace


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    llvm.library.cache_clear()
    monkeypatch.delenv(llvm.VARIABLE, raising=False)
    yield
    llvm.library.cache_clear()


def machine(monkeypatch: pytest.MonkeyPatch, libraries: dict[str, int | None]) -> None:
    """A machine with these libraries and the versions that they report."""
    monkeypatch.setattr(llvm, "candidates", lambda: iter(libraries))
    monkeypatch.setattr(llvm, "version", libraries.get)


def test_old_libraries_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, {"libLLVM-16.so": 16, "broken.so": None, "libLLVM-19.so": 19})
    assert llvm.library(None) == "libLLVM-19.so"


def test_with_only_old_libraries_the_error_lists_them_and_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(monkeypatch, {"libLLVM-15.so": 15, "libLLVM-14.so": None})
    with pytest.raises(ImportError) as refusal:
        llvm.library(None)
    assert str(refusal.value) == (
        "The engine sionna requires LLVM 17 or newer, because older versions abort the "
        "process. Found only libLLVM-15.so (version 15), libLLVM-14.so (does not work). Install "
        "LLVM 17 or newer, e.g. `apt-get install libllvm19` on Debian 12 or `brew install llvm`, "
        "or set DRJIT_LIBLLVM_PATH to the path of the library."
    )


def test_without_any_library_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, {})
    with pytest.raises(ImportError, match=r"Found none\. Install LLVM 17 or newer"):
        llvm.library(None)


def test_the_chosen_library_is_the_only_one_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, {"libLLVM-19.so": 19, "/mine.so": 18, "/old.so": 15})
    assert llvm.library("/mine.so") == "/mine.so"
    with pytest.raises(ImportError, match=r"Found only /old.so \(version 15\)"):
        llvm.library("/old.so")


def test_the_library_found_is_passed_to_sionna(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, {"libLLVM-20.so": 20})
    monkeypatch.setattr(metadata, "version", lambda name: "2.2.0")
    monkeypatch.setenv(llvm.VARIABLE, "")  # so that it is restored afterwards
    llvm.prepare()
    assert os.environ[llvm.VARIABLE] == "libLLVM-20.so"


def test_without_sionna_the_engine_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(ImportError, match=r"localarc-lab\[beams\]'"):
        trace(city(), [[0.0, 0.0, 1.0]], engine="sionna")


@pytest.mark.slow
def test_importing_the_engine_does_not_load_sionna() -> None:
    loaded = (
        "import sys, localarc_lab.experiments.beams.raytracer.sionna_rt as _; print(*sys.modules)"
    )
    names = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"sionna", "mitsuba", "drjit"} & set(names)


def test_a_library_that_aborts_its_process_does_not_abort_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        llvm, "_PRINT_VERSION", "import os; print('major 15', flush=True); os.abort()"
    )
    assert llvm.version("/any.so") is None


def test_the_version_is_that_of_the_given_library(monkeypatch: pytest.MonkeyPatch) -> None:
    question = f"import os; print('noise'); print('major', os.environ['{llvm.VARIABLE}'])"
    monkeypatch.setattr(llvm, "_PRINT_VERSION", question)
    assert llvm.version("18") == 18
    assert llvm.version("-1") is None  # what Dr.Jit reports if it cannot load a library
    assert llvm.VARIABLE not in os.environ


def test_libraries_are_tried_from_the_newest_name_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {"a": ["/x/libLLVM-14.so.1", "/x/libLLVM.so.19.1"], "b": ["/x/libLLVM-9.so"]}
    monkeypatch.setattr(llvm, "_PATTERNS", tuple(files))
    monkeypatch.setattr(llvm, "glob", files.get)
    names = [path.rsplit("/", 1)[1] for path in llvm.candidates()]
    assert names == ["libLLVM.so.19.1", "libLLVM-14.so.1", "libLLVM-9.so"]
