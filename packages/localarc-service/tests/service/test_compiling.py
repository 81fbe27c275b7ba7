"""Compiling: in processes of their own, before or beside the requests, never in front of them."""

from __future__ import annotations

import copy
import os
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from localarc_client.wire.config import LarcConfig
from localarc_client.wire.config_parts import KernelConfig, LatticeMemory
from localarc_client.wire.config_reading import read_config
from localarc_service import compiler as compiler_module
from localarc_service.compile_watch import NotCompiledError, only_from_disk
from localarc_service.compiler import Compiler
from localarc_service.errors import ApiError
from localarc_service.streams.rehearsal import USUAL, Shape, shape_of
from service.conftest import Start
from service.service_in_thread import Inside, wait_for
from service.service_process import Caller, Server

KERNEL = {"length_scale": 0.5}
USUAL_STREAMS: dict[str, dict[str, Any]] = {
    "auto": {"features": 2},
    "gate": {"method": "gate"},
    "arc": {"method": "arc"},
    "mondrian": {"method": "mondrian"},
    "lattice": {"kernel": KERNEL, "features": 2},
    "dictionary": {"kernel": KERNEL, "features": 3},
}
UNUSUAL_STREAMS: dict[str, dict[str, Any]] = {
    "window": {"kernel": KERNEL, "features": 2, "memory": {"kind": "keep-last", "m": 50}},
    "exact": {"kernel": KERNEL, "features": 2, "memory": {"kind": "keep-all"}},
    "cauchy": {"kernel": {"kind": "cauchy"}, "features": 1},
}


def play(caller: Caller, name: str, config: dict[str, Any], rounds: int) -> None:
    """Rounds of one stream, each prediction and each loss a request or part of one."""
    chance = random.Random(name)
    for start in range(0, rounds, 100):
        operations = []
        for t in range(start, start + 100):
            about = {"stream": name, "id": f"p{t}"}
            x = [chance.random() for _ in range(config.get("features", 0))]
            more = {"confidence": 1.0} if config.get("method") == "gate" else {}
            loss = {"loss": 0.0} if more else {"loss": float(t % 3 == 0), "score": chance.random()}
            operations.append({"op": "predict", **about, "x": x, "group": "all", **more})
            operations.append({"op": "feedback", **about, **loss})
        status, answer = caller.call("POST", "/v1/batch", {"operations": operations})
        assert status == 200, answer
        assert {each["status"] for each in answer["results"]} == {200}, answer["results"]


@pytest.mark.slow
@pytest.mark.parametrize("name", USUAL_STREAMS | UNUSUAL_STREAMS)
def test_a_stream_uses_no_loop_that_was_not_rehearsed(service: Inside, name: str) -> None:
    from localarc.engine.disk_cache import activity

    config = (USUAL_STREAMS | UNUSUAL_STREAMS)[name]
    assert service.http.create("s", {"alpha": 0.1, **config})[0] == 201
    before = copy.copy(activity)
    play(service.http, "s", config, 700)
    for path in ("", "/history", "/map", "/state"):
        service.http.call("GET", f"/v1/streams/s{path}")
    state = service.ask(lambda manager: manager.stream("s").snapshot())
    service.ask(lambda manager: type(manager.stream("s")).from_snapshot(state))
    assert activity == before


def test_every_kind_of_stream_has_a_shape() -> None:
    def shape(**fields: Any) -> Shape | None:
        return shape_of(read_config({"alpha": 0.1, **fields}))

    assert shape(features=7) == shape(method="gate") == Shape("auto")
    assert shape(method="arc") is shape(method="mondrian") is None
    assert [shape(kernel={}, features=d) for d in (1, 2, 3)] == [
        USUAL[1],
        USUAL[1],
        USUAL[2],
    ]
    assert shape(kernel={"kind": "cauchy"}, features=50) == Shape("larc", "cauchy", "dictionary", 9)


@pytest.fixture
def nothing_on_disk(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A shape whose loops are on disk once the event is set; its process does nothing."""
    compiled = threading.Event()

    def pretend(shape: Shape) -> None:
        if not compiled.is_set():
            raise NotCompiledError("learn")

    monkeypatch.setattr(compiler_module, "rehearse", pretend)
    monkeypatch.setattr(compiler_module, "_loaded", set())
    monkeypatch.setattr(Compiler, "_run", lambda self, shape: compiled.wait(60))
    return compiled


@pytest.mark.slow
def test_a_client_is_asked_to_come_again_while_its_loops_are_compiled(
    start: Start, nothing_on_disk: threading.Event
) -> None:
    nothing_on_disk.set()
    service = start()
    nothing_on_disk.clear()
    path, config = "/v1/streams/s", {"alpha": 0.1, "kernel": {"kind": "cauchy"}, "features": 1}
    service.http.create("other", {"alpha": 0.1, "method": "arc"})
    for _ in range(2):
        status, answer = service.http.call("PUT", path, config)
        assert (status, answer["title"]) == (503, "Service Unavailable")
        assert "compiles" in answer["detail"]
        assert service.http.predict("other")[0] == 200
    nothing_on_disk.set()
    wait_for(lambda: service.http.call("PUT", path, config)[0] in (200, 201))


def test_a_request_that_must_wait_is_told_how_long(nothing_on_disk: threading.Event) -> None:
    compiler = Compiler()
    with pytest.raises(ApiError) as raised:
        compiler.prepare(LarcConfig(0.1, kernel=KernelConfig("cauchy"), features=1))
    nothing_on_disk.set()
    assert (raised.value.status, raised.value.retry_after) == (503, 4)


def test_an_invalid_config_is_rejected_and_not_compiled_for(
    nothing_on_disk: threading.Event,
) -> None:
    compiler = Compiler()
    with pytest.raises(ValueError, match="Lattice supports"):
        compiler.prepare(LarcConfig(0.1, features=4, kernel=KernelConfig(), memory=LatticeMemory()))
    assert compiler._futures == {}


def test_a_stopped_service_waits_for_no_compiler(nothing_on_disk: threading.Event) -> None:
    compiler = Compiler()
    loading = threading.Thread(target=compiler.load_all, args=([],))
    loading.start()
    wait_for(lambda: compiler._futures)
    compiler.stop()
    nothing_on_disk.set()
    loading.join(60)
    assert not loading.is_alive()
    compiler.load_all([])  # returns at once


def test_only_from_disk_prevents_compiling_in_its_thread_alone() -> None:
    import numba

    compiled: Any = numba.njit(_one)
    with only_from_disk(), pytest.raises(NotCompiledError, match="one"):
        compiled()
    assert compiled() == 1


def _one() -> int:
    return 1


def test_loops_are_stored_in_the_data_folder(tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text("def two():\n    return 2\n")
    code = """
import sys
from pathlib import Path
from localarc_service import compile_cache
compile_cache.use(Path("data") / "compiled")
from localarc.engine.disk_cache import activity
from localarc.engine.numba_tools import compile_entry
import ours
compile_entry(ours.two)()
print(activity.found, activity.stored, *activity.folders)
"""
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    command = [sys.executable, "-c", code]
    about: Any = {"cwd": tmp_path, "env": kept | {"PYTHONPATH": str(tmp_path)}, "text": True}
    said = [subprocess.run(command, capture_output=True, **about).stdout.split() for _ in range(2)]
    assert [line[:2] for line in said] == [["0", "1"], ["1", "0"]]
    assert all(line[2].startswith("data/compiled/") for line in said)


def test_the_command_names_the_folder_before_it_imports_the_engine(tmp_path: Path) -> None:
    code = """
import sys
from localarc_service import compile_cache

def use(folder):
    print(folder, [name for name in ("numba", "localarc.engine") if name in sys.modules])
    raise SystemExit

compile_cache.use = use
from localarc.cli import main
main(["serve", "--data", "data", "--port", "0"])
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["data/compiled []"]


class Timed(Caller):
    """A connection that knows its slowest request."""

    slowest = 0.0

    def call(self, *args: Any, **more: Any) -> Any:
        started = time.perf_counter()
        answer = super().call(*args, **more)
        self.slowest = max(self.slowest, time.perf_counter() - started)
        return answer


@pytest.mark.service
def test_what_compiles_is_imported_before_there_are_threads() -> None:
    code = (
        "import sys; from localarc_service.compiler import Compiler; "
        "assert 'numba' not in sys.modules; Compiler(); "
        "assert {'numba.core.event', 'localarc.engine.auto.loops'} <= sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.service
def test_with_an_empty_cache_no_request_waits_for_a_compiler_once_ready(tmp_path: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    with Server(tmp_path / "data", environment=cache) as server:
        caller, other = Timed(server.port), Timed(server.port)
        for name, config in USUAL_STREAMS.items():
            assert caller.call("PUT", f"/v1/streams/{name}", {"alpha": 0.1, **config})[0] == 201
            play(caller, name, config, 700)
        done = threading.Event()

        def keep_asking() -> None:
            while not done.is_set():
                status, answer = other.predict("auto", x=[0.1, 0.2])
                assert status == 200, answer
                assert other.feedback("auto", answer["id"], 0.0)[0] == 200

        asking = threading.Thread(target=keep_asking)
        asking.start()
        for name, config in UNUSUAL_STREAMS.items():
            assert caller.create(name, {"alpha": 0.1, **config})[0] == 201
            play(caller, name, config, 700)
        done.set()
        asking.join()
        caller.close()
        other.close()
        errors = server.errors
    assert "while all streams wait" not in errors
    _, unusual = errors.split("compiling for streams with larc, cauchy", 1)
    longest = max(map(int, re.findall(r"compiled for them in (\d+) s", unusual)))
    slowest = max(caller.slowest, other.slowest)
    print(f"slowest request {slowest:.2f} s, longest compilation {longest} s")
    assert slowest < 0.5 * longest  # a request that waits for a compiler takes as long as that
