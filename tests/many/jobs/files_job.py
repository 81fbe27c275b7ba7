"""A job over files that can be killed at any moment: give it a folder."""

import sys
from pathlib import Path

from localarc import LARC, RBF
from localarc.many import Columns, run_files


def calibrator() -> LARC:
    return LARC(0.1, RBF.from_paper(0.5))


def main(folder: Path) -> None:
    run_files(
        sorted((folder / "in").iterdir()),
        folder / "job",
        Columns(key="key", order="order", features=["x0"], score="score"),
        calibrator(),
        shards=3,
        jobs=2,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
