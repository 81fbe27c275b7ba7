"""Markup: tables and figures; names from the data are shown, never obeyed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from localarc.figures.svg import svg
from localarc.reporting.assessment import version

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = 5.4, 3.7  # inches; small enough that labels stay readable on a phone


def document(title: str, parts: Sequence[str]) -> str:
    """A whole page from its parts; nothing in it is fetched from anywhere."""
    style = (
        resources.files("localarc.reporting.html").joinpath("page.css").read_text(encoding="utf-8")
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>{style}</style></head>"
        f"<body>\n{chr(10).join(parts)}\n<footer>Made by localarc {escape(version())}.</footer>"
        "</body></html>\n"
    )


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, kind: str = "plain") -> str:
    """A paragraph."""
    return f'<p class="{kind}">{escape(text)}</p>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that scrolls by itself where the page is narrow."""
    first = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    rest = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
    return (
        f'<div class="tables"><table><thead><tr>{first}</tr></thead>'
        f"<tbody>{rest}</tbody></table></div>"
    )


def figure(draw: Callable[[Axes], Axes], name: str, caption: str) -> str:
    """A figure with its caption, which is also what a screen reader says."""
    drawing = svg(draw, name, caption, _SIZE)
    return f"<figure>{drawing}<figcaption>{escape(caption)}</figcaption></figure>"


def figures(parts: Iterable[str]) -> str:
    """Figures side by side where there is room."""
    return f'<div class="figures">{"".join(parts)}</div>'
