"""Sessions on this machine alone, with as little of Spark as a test needs."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.python.authenticate.socketTimeout": "300s",  # of workers on a busy machine
    # A third less CPU for jobs as short as these.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
PATIENCE = 300.0  # seconds; a limit for a server that hangs, not a measurement


def local_session(**more: str) -> Any:
    from pyspark.sql import SparkSession

    from localarc.many.spark import prepare

    builder = SparkSession.builder.master("local[2]").appName("localarc tests")
    for name, value in (SETTINGS | more).items():
        builder = builder.config(name, value)
    session = prepare(builder.getOrCreate())
    session.sparkContext.setLogLevel("OFF")
    return session


@contextmanager
def connect_session(log: Path) -> Iterator[Any]:
    """A client of a Spark Connect server, which is another process."""
    from pyspark.sql import SparkSession

    from localarc.many.spark import prepare

    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("wb") as output:
        server = subprocess.Popen(_server_command(port), stdout=output, stderr=output)
    try:
        _wait_for(server, port, log)
        session = prepare(SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate())
        yield session
        session.stop()
    finally:
        server.terminate()
        server.wait()


def _server_command(port: int) -> list[str]:
    import pyspark

    home = Path(pyspark.__file__).parent
    os.environ["SPARK_HOME"] = str(home)
    settings = SETTINGS | {"spark.connect.grpc.binding.port": str(port)}
    given = [part for item in settings.items() for part in ("--conf", "=".join(item))]
    return [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--class", SERVER, *given]


def _wait_for(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        assert server.poll() is None, log.read_text()[-4000:]
        assert time.monotonic() < end, "the server did not start"
        with closing(socket.socket()) as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
