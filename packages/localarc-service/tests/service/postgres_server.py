"""A real PostgreSQL server in a folder of its own, which tests can kill and restart."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import psycopg

from service.requirements import missing
from service.service_process import PATIENCE, free_port

_DEBIAN = Path("/usr/lib/postgresql")


def programs() -> Path | None:
    """The folder of the newest server programs, None if there are none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    return max((path.parent for path in _DEBIAN.glob("*/bin/initdb")), default=None)


class Postgres:
    """A server on 127.0.0.1; not as root, which PostgreSQL refuses. Leaving the block ends it.

    One that is a replica of another follows it until it is promoted.
    """

    def __init__(self, replica_of: Postgres | None = None, name: str = "primary") -> None:
        found = programs()
        if found is None:
            missing("PostgreSQL is not installed: apt-get install postgresql")
        assert found is not None
        self._programs = found
        self._folder = Path(tempfile.mkdtemp(prefix="localarc-postgres-"))
        self._as_user: dict[str, Any] = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("nobody")
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            self._as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.port = free_port()
        self.url = f"postgresql://localarc@127.0.0.1:{self.port}/postgres"
        self.name = name  # of a replica, in `synchronous_standby_names`
        self._process: subprocess.Popen[bytes] | None = None
        if replica_of is not None:
            how = f"--pgdata={self._folder / 'data'} --write-recovery-conf --checkpoint=fast"
            replica_of.run(f"pg_basebackup {how}", as_user=self._as_user)
            return
        how = "--auth=trust --username=localarc --encoding=UTF8 --locale=C --no-sync"
        self.run(f"initdb {how} --data-checksums --pgdata={self._folder / 'data'}")

    def run(self, line: str, as_user: dict[str, Any] | None = None) -> None:
        """Run one of PostgreSQL's programs, as a shell would: for this server, in its folder."""
        about = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "localarc"}
        environment = os.environ | about | {"PATH": f"{self._programs}:{os.environ['PATH']}"}
        command: dict[str, Any] = {"shell": True, "cwd": self._folder, "env": environment}
        done = subprocess.run(line, capture_output=True, **command, **(as_user or self._as_user))
        assert done.returncode == 0, f"{line}: {done.stderr.decode()}"

    def start(self) -> Self:
        """Start it, and wait until it answers; after a kill, it recovers first."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if self._process is None or self._process.poll() is not None:
                self._process = self._begin()
            with contextlib.suppress(psycopg.OperationalError):
                self.connect().close()
                return self
            time.sleep(0.05)
        raise AssertionError(f"PostgreSQL did not start: {(self._folder / 'log').read_text()}")

    def _begin(self) -> subprocess.Popen[bytes]:
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "shared_buffers": "16MB"}
        settings |= {"unix_socket_directories": self._folder, "max_connections": 50}
        settings |= {"cluster_name": self.name}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(self._folder / "data"), *options],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                **self._as_user,
            )

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(self.url, autocommit=True, connect_timeout=5)

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement of the test's own; returns its rows."""
        with self.connect() as connection:
            found = connection.execute(statement.encode())
            return found.fetchall() if found.description else []

    def kill(self) -> None:
        """Kill all of its processes without warning."""
        process = self._process
        assert process is not None
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        process.wait(PATIENCE)
        self._process = None

    def stop(self) -> None:
        """Stop it, and remove what it stored."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(PATIENCE)
            self._process = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
