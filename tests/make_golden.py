"""Write golden files of the present formats and algorithms: python tests/make_golden.py [KIND...].

Run it when a format's version or an algorithm's number was raised, and commit what it writes: a new
folder for each kind (states, models, panels, tables), beside earlier ones, which stay as they are,
and in `golden/sums` what every later version must find in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import make_golden_models as models
import make_golden_panels as panels
import make_golden_states as states
from golden_files import GOLDEN, SUMS, kind_of, write_sums
from localarc import ARC, LARC, AutoLARC, Mondrian, Panel
from localarc.many import KeyedStreams
from localarc.many.panel.table import FORMAT
from localarc.serialization import VERSION
from many import make_golden_tables as tables

KINDS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "states": (f"states_v{VERSION}", states.write),
    "models": (f"models_v{VERSION}", models.write),
    "panels": (f"panels_v{VERSION}", partial(models.write, cases=panels.CASES)),
    "tables": (f"tables_v{FORMAT}_{VERSION}", tables.write),
}
MODELS = models.CASES | panels.CASES
CLASSES: dict[str, Any] = {kind.__name__: kind for kind in (ARC, LARC, AutoLARC, Mondrian, Panel)}


def new_folder(name: str) -> Path:
    """A folder that is not there yet: `states_v4`, then `states_v4_again`, and so on."""
    while (GOLDEN / name).exists():
        name += "_again"
    (GOLDEN / name).mkdir()
    return GOLDEN / name


def opened(path: Path) -> Any:
    """The model in a golden file."""
    if path.suffix == ".parquet":
        return KeyedStreams.load(path).panel
    if path.stem in MODELS:
        return MODELS[path.stem].load(path)
    return CLASSES[kind_of(path.read_bytes())].load(path)


def main(kinds: list[str]) -> None:
    for kind in kinds or KINDS:
        name, write = KINDS[kind]
        write(new_folder(name))
    write_missing_sums()


def write_missing_sums() -> None:
    """Store the sums of folders that have none yet."""
    for folder in sorted(GOLDEN.glob("*_v*")):
        if not (SUMS / f"{folder.name}.json").exists():
            files = sorted([*folder.glob("*.bin"), *folder.glob("*.parquet")])
            write_sums(folder, {path.stem: opened(path) for path in files})


if __name__ == "__main__":
    main(sys.argv[1:])
