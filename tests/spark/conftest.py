"""A Spark of two threads on the loopback address, for all tests here."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    reason = "PySpark is not installed: pip install 'localarc[spark]', or make cluster"
    pytest.importorskip("pyspark", reason=reason)
    from spark.sessions import local_session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = local_session()
    yield session
    session.stop()
