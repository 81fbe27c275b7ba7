import subprocess
import sys

import localarc

HEAVY = ("numba", "pandas", "pyarrow", "matplotlib", "torch", "rich", "click")


def test_importing_localarc_imports_nothing_heavy() -> None:
    code = f"import sys, localarc; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_public_names_are_there() -> None:
    for name in localarc.__all__:
        assert hasattr(localarc, name)
