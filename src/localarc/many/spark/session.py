"""The Spark session: the state store that a keyed stream requires, and PySpark itself."""

from __future__ import annotations

from typing import Any

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
SETTINGS = {
    _PROVIDER: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
"""RocksDB holds the state, and a batch writes its changes instead of a full snapshot."""


def prepare(session: Any) -> Any:
    """Configure the state store that `calibrate` requires, for streams of this session.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        The session, which is also returned.
    """
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    return session


def check_session(session: Any) -> None:
    """Raise unless the session uses the RocksDB state store."""
    if session.conf.get(_PROVIDER) != SETTINGS[_PROVIDER]:
        raise RuntimeError(
            "a keyed stream requires Spark's RocksDB state store, which this session does not use. "
            "Call localarc.many.spark.prepare(session) first."
        )


def current_session(session: Any) -> Any:
    """The given session, or the active one."""
    found = session or spark_sql().SparkSession.getActiveSession()
    if found is None:
        raise RuntimeError("no Spark session is active. Start one, or pass session=...")
    return found


def spark_sql() -> Any:
    """PySpark's module `sql`; raises ImportError with the command that installs it."""
    try:
        from pyspark import sql
    except ImportError as error:
        raise ImportError(
            "this requires PySpark 4.1 or newer: pip install 'localarc[spark]'"
        ) from error
    return sql
