"""A job over a topic that can be killed at any moment: give it a folder and the brokers."""

import sys
from pathlib import Path

from localarc.many import Columns, run_topic
from many.jobs.files_job import calibrator


def main(folder: Path, servers: str) -> None:
    run_topic(
        "scores",
        folder / "job",
        Columns(key="key", order="order", features=["x0"], score="score"),
        calibrator(),
        servers=servers,
        shards=2,
        jobs=2,
        batch=40,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
