"""The image's steps, without a container runtime: built and run as a user, on a read-only tree."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.dockerfile import DOCKERFILE, ROOT, Stage, copy_context, stages
from deploy.sandbox import hand_over, lint, run
from service.postgres_server import Postgres

pytestmark = pytest.mark.deploy

TOKEN = "a-token-that-may-write"
BUILD, FINAL = stages()


@dataclass(frozen=True)
class Built:
    """The installed folder of the image, and a folder for what it is run with."""

    prefix: Path
    scratch: Path


@pytest.fixture(scope="module")
def built(open_folder: Path) -> Built:
    """The image's folder /opt/localarc, made by the RUN step of the Dockerfile."""
    source, prefix, scratch = (open_folder / part for part in ("src", "prefix", "scratch"))
    copy_context(source)
    prefix.mkdir()
    scratch.mkdir()
    hand_over(prefix)
    (step,) = BUILD.all("RUN")
    done = run(
        ["sh", "-c", step],
        environment=_build_environment(BUILD),
        read={"/src": source},
        write={"/opt/localarc": prefix},
        network=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Built(prefix, scratch)


def _build_environment(stage: Stage) -> dict[str, str]:
    """The build's arguments, and how this machine reaches its package index."""
    arguments = dict(value.split("=", 1) for value in stage.all("ARG"))
    pip = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    return {"PATH": os.environ["PATH"], "HOME": "/tmp"} | pip | arguments


def listing(folder: Path) -> list[tuple[str, int, int]]:
    """Every file with its size and time."""
    paths = sorted(folder.rglob("*"))
    return [(str(path), path.lstat().st_size, path.lstat().st_mtime_ns) for path in paths]


@pytest.fixture
def data(built: Built) -> Path:
    """An empty volume, which the user of the image owns."""
    folder = Path(tempfile.mkdtemp(dir=built.scratch))
    hand_over(folder)
    return folder


def serve(built: Built, data: Path, store: dict[str, str], sockets: dict[str, Path]) -> None:
    """Start what the image starts, use it, stop it and start it again, in a sandbox."""
    tokens, before = built.scratch / "tokens", listing(built.prefix)
    tokens.write_text(f"write {TOKEN}\n")
    script = {"/round_trip.py": Path(__file__).with_name("round_trip.py")}
    files = {"/opt/localarc": built.prefix, "/run/secrets/tokens": tokens}
    checks = [json.dumps(FINAL.healthcheck()), json.dumps(FINAL.command())]
    done = run(
        ["python", "-I", "/round_trip.py", TOKEN, *checks],
        environment=FINAL.environment() | store,
        read=files | script,
        write={FINAL.last("VOLUME"): data} | sockets,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "uid": 10001,
        "without a token": 401,
        "created": [201, 201],
        "stopped": 0,
        "rounds": [20, 20],
        "stopped again": 0,
        "in /tmp": [],
    }
    assert "compil" not in done.stderr  # loops came with the image
    assert listing(built.prefix) == before


def test_the_image_serves_and_resumes_on_a_read_only_file_system_without_compiling(
    built: Built, data: Path
) -> None:
    serve(built, data, {}, {})
    assert (data / "log.sqlite").exists()


def test_the_image_keeps_streams_in_postgresql_and_nothing_in_its_folder(
    built: Built, data: Path
) -> None:
    with Postgres() as postgres:
        ((folder,),) = postgres.execute("SHOW unix_socket_directories")
        url = f"postgresql://localarc@/postgres?host=/run/postgresql&port={postgres.port}"
        serve(built, data, {"LOCALARC_STORE": url}, {"/run/postgresql": Path(folder)})
    assert [path for path in data.rglob("*") if path.is_file()] == []


def test_the_image_runs_as_a_user_with_a_number_and_keeps_data_in_a_volume() -> None:
    uid, _, gid = FINAL.last("USER").partition(":")
    assert int(uid) > 1000 < int(gid)  # a cluster can check numbers: runAsNonRoot
    command = FINAL.command()
    assert command[command.index("--data") + 1] == FINAL.last("VOLUME")


def test_an_unknown_number_of_arguments_says_how_to_call_the_script() -> None:
    script = ROOT / "deploy" / "build-image.sh"
    done = subprocess.run([str(script), "/src"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage: build-image.sh SOURCE PREFIX," in done.stderr


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    assert lint("hadolint", DOCKERFILE) == ""
