"""Plotly's script, taken from the installed package and made to live under a strict policy."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.util
import re
from pathlib import Path

EMPTY_STYLE = "sha256-" + base64.b64encode(hashlib.sha256(b"").digest()).decode()
"""The one inline style that the page's policy has to let in: Plotly adds an empty one and fills it
through the document's object model, which the policy does not cover. One with text stays out."""

# Its map component adds a style with text unless an element with a certain id is there already.
_STYLE_WITH_TEXT = re.compile(rb'getElementById\("([0-9a-f]{64})"\)')


def script_path() -> Path:
    """Where the script is, without importing the package."""
    spec = importlib.util.find_spec("plotly")
    if spec is None or spec.origin is None:
        raise ImportError("the page needs plotly: pip install 'localarc[service]'")
    path = Path(spec.origin).parent / "package_data" / "plotly.min.js"
    if not path.is_file():
        raise ImportError(
            f"the page needs plotly.min.js, which this plotly lacks: {path} is not there. "
            "Install the release that constraints.txt names."
        )
    return path


@functools.cache
def script() -> bytes:
    """The script itself."""
    return script_path().read_bytes()


@functools.cache
def refused_styles() -> list[str]:
    """The ids of styles with text; the page has placeholders for them, since it draws no maps."""
    return sorted({found.decode() for found in _STYLE_WITH_TEXT.findall(script())})
