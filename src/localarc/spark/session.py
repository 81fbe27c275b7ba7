"""Settings: the state store that a keyed stream needs, set once for a session."""

from __future__ import annotations

from typing import Any

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
SETTINGS = {
    _PROVIDER: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
"""RocksDB holds the state, and a batch writes what it changed instead of a whole snapshot."""


def prepare(session: Any) -> Any:
    """Choose the state store that `calibrate` needs for streams started from this session."""
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    return session


def check(session: Any) -> None:
    """Say what to do if the session keeps its state elsewhere."""
    if session.conf.get(_PROVIDER) != SETTINGS[_PROVIDER]:
        raise RuntimeError(
            "a keyed stream needs Spark's RocksDB state store, which this session does not use. "
            "Call localarc.spark.prepare(session) first."
        )


def current_session(session: Any) -> Any:
    """The session that was given, or the one that is active."""
    found = session or spark_sql().SparkSession.getActiveSession()
    if found is None:
        raise RuntimeError("no Spark session is active. Start one, or pass session=...")
    return found


def spark_sql() -> Any:
    """PySpark's module `sql`, or the way to get it."""
    try:
        from pyspark import sql
    except ImportError as error:
        raise ImportError("this takes PySpark 4.3: pip install 'localarc[spark]'") from error
    return sql
