"""A keyed stream that can be made to stop dead in the middle of a batch: give it a folder.

Where FOLDER/hold names an order, the first row of that order which leaves its bucket writes
FOLDER/held and waits forever: by then its bucket has learned, and the batch is not finished.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localarc import LARC, RBF
from localarc.many import Columns
from localarc.many.spark import calibrate
from many.spark.sessions import local_session

COLUMNS = "key string, order bigint, x0 double, score double"
ONE_HOUR = 3600.0  # until it is killed
BUCKETS = 6


def calibrator() -> LARC:
    return LARC(0.1, RBF.from_paper(0.5))


def main(folder: Path) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = local_session()
    reader = session.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
    rows = calibrate(
        reader.parquet(str(folder / "in")),
        Columns(key="key", order="order", features=["x0"], score="score"),
        calibrator(),
        buckets=BUCKETS,
    )
    slowed = rows.mapInPandas(holding(str(folder)), rows.schema)
    writer = slowed.writeStream.format("parquet").option("path", str(folder / "out"))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    session.stop()


def holding(folder: str) -> Any:
    def hold(parts: Iterator[Any]) -> Iterator[Any]:
        order = Path(folder, "hold")
        for part in parts:
            if order.exists() and (part["order"] == int(order.read_text())).any():
                Path(folder, "held").touch()
                time.sleep(ONE_HOUR)
            yield part

    return hold


if __name__ == "__main__":
    main(Path(sys.argv[1]))
