"""Figures as inline SVG, with the colours of the page, for light and dark themes."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from localarc.figures.canvas import new_figure
from localarc.figures.palette import FAINT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def svg(
    draw: Callable[[Axes], Axes], name: str, description: str, size: tuple[float, float]
) -> str:
    """Return what `draw` draws as one `<svg>` element without external references.

    `name` prefixes its ids, which must be unique on a page.
    """
    figure = new_figure(*size)
    import matplotlib

    figure.patch.set_alpha(0.0)
    draw(figure.subplots())
    buffer = io.StringIO()
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
    }  # text stays text; ids are reproducible
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The browser has glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(_METADATA))
    return _inline(buffer.getvalue(), name, description)


_METADATA = ("Date", "Creator", "Format", "Type")


def _inline(text: str, name: str, description: str) -> str:
    """Return the svg element with unique ids, page colours and a description."""
    body = text[text.index("<svg") :]
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{name}-", body)
    body = body.replace(INK, "var(--ink)").replace(FAINT, "var(--faint)")
    _, view, rest = re.split(r'(viewBox="[^"]*")[^>]*>', body, maxsplit=1)
    opening = f'<svg {view} role="img" aria-label="{escape(description, quote=True)}">'
    return opening + rest.strip()
