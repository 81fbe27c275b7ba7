"""Provenance: which code and which packages computed a result."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from localarc.reporting.assessment import version

PACKAGE = Path(__file__).parent.parent
_PACKAGES = ("numpy", "numba", "matplotlib", "joblib")


def source_digest(folder: Path | None = None) -> str:
    """Return a SHA-256 over the names and contents of all Python files of a package.

    Parameters
    ----------
    folder : Path, optional
        Root of the package. By default localarc's own.

    Examples
    --------
    >>> len(source_digest())
    64
    """
    root = PACKAGE if folder is None else folder
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of localarc, Python and those packages that compute and are installed.

    Examples
    --------
    >>> sorted(versions())
    ['joblib', 'localarc', 'matplotlib', 'numba', 'numpy', 'python']
    """
    installed = [name for name in _PACKAGES if find_spec(name)]
    packages = {name: metadata.version(name) for name in installed}
    return {"localarc": version(), "python": platform.python_version()} | packages
