"""A Spark of two threads on the loopback address, for all tests here."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # PySpark 4.3 says this on every call; what we use of pandas 3 is what these tests run.
    known = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
    for item in items:
        if "spark" in item.path.parts:
            item.add_marker(known)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    reason = "PySpark is not here: pip install 'localarc[spark]', or make cluster"
    pytest.importorskip("pyspark", reason=reason)
    from spark.sessions import local_session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = local_session()
    yield session
    session.stop()
