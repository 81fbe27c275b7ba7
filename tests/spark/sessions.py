"""A session on this machine alone, with as little of Spark as a test needs."""

from __future__ import annotations

from typing import Any

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    # A third less CPU for jobs as short as these.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def local_session(**more: str) -> Any:
    from pyspark.sql import SparkSession

    from localarc.spark import prepare

    builder = SparkSession.builder.master("local[2]").appName("localarc tests")
    for name, value in (SETTINGS | more).items():
        builder = builder.config(name, value)
    session = prepare(builder.getOrCreate())
    session.sparkContext.setLogLevel("OFF")
    return session
