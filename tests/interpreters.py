"""Other Pythons of at least 3.11 that are here, one of each version: pyenv's, or the path's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def interpreters() -> list[str]:
    """Their paths, oldest first."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for minor in sorted(set(range(11, 20)) - {sys.version_info.minor}):
        of_pyenv = sorted(versions.glob(f"3.{minor}.*/bin/python"))
        python = of_pyenv[-1] if of_pyenv else shutil.which(f"python3.{minor}")
        if python and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            found.append(str(python))
    return found


if __name__ == "__main__":
    print(*interpreters(), sep="\n")
