"""A Spark of two threads on the loopback address, for all tests here.

With LOCALARC_SPARK_CONNECT it is a Spark Connect server, and the session a client of it.
"""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    reason = "PySpark is not installed: pip install 'localarc[spark]', or make cluster"
    pytest.importorskip("pyspark", reason=reason)
    from many.spark.sessions import connect_session, local_session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    if os.environ.get("LOCALARC_SPARK_CONNECT"):
        with connect_session(tmp_path_factory.mktemp("connect") / "log") as session:
            yield session
        return
    session = local_session()
    yield session
    session.stop()
