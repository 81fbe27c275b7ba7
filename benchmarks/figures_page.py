"""Draw the picture of docs/figures.md with its own code: `python -m benchmarks.figures_page`."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from pathlib import Path

from benchmarks.machine import ROOT

PAGE = ROOT / "docs" / "figures.md"
PICTURE = ROOT / "docs" / "figures" / "intervals.png"


def main() -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for code in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S):
            exec(compile(code, str(PAGE), "exec"), names)
        PICTURE.parent.mkdir(exist_ok=True)
        shutil.copyfile(Path(folder) / PICTURE.name, PICTURE)
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
