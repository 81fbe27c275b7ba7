"""A picture and its alternative text, which travel together."""

from __future__ import annotations

import base64
import io
import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from localarc import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS_PER_INCH = 160
_METADATA = {  # where each format keeps a description
    ".png": "Description",
    ".svg": "Description",
    ".pdf": "Subject",
}


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with the text for readers who cannot see it; notebooks show both.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure, to change or add to.
    text : str
        Alternative text: what the figure shows, with its numbers.

    Examples
    --------
    >>> from localarc.figures import intervals_over_time
    >>> picture = intervals_over_time([1.0, 5.0], ([0.0, 0.0], [2.0, 2.0]))
    >>> picture.text
    'intervals: 50.0 % of 2 outcomes covered (target 90 %), at least 50.0 % of any 2 in a row. ...'
    """

    figure: Figure
    text: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture, with its text where the format keeps a description.

        Parameters
        ----------
        path : str or path-like
            A file that ends in .png, .svg or .pdf.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> from localarc.figures import intervals_over_time
        >>> picture = intervals_over_time([1.0, 5.0], ([0.0, 0.0], [2.0, 2.0]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     picture.save(f"{folder}/intervals.svg").suffix
        '.svg'
        """
        file = Path(path)
        kind = file.suffix.lower()
        if kind not in _METADATA:
            raise ValueError(
                f"a picture must be written as {', '.join(_METADATA)}, got {file.name!r}. "
                "Call picture.figure.savefig for other formats."
            )
        atomic_write.write(file, self._bytes(kind))
        return file

    def _bytes(self, kind: str) -> bytes:
        buffer = io.BytesIO()
        metadata = {_METADATA[kind]: self.text}
        self.figure.savefig(buffer, format=kind[1:], dpi=_DOTS_PER_INCH, metadata=metadata)
        if kind != ".svg":
            return buffer.getvalue()
        spoken = f'<svg role="img" aria-label="{escape(self.text, quote=True)}" '
        return buffer.getvalue().replace(b"<svg ", spoken.encode(), 1)

    def _repr_html_(self) -> str:
        """Return what notebooks show: the picture with its alternative text."""
        data = base64.b64encode(self._bytes(".png")).decode()
        width = round(self.figure.get_figwidth() * 96)
        alt = escape(self.text, quote=True)
        return f'<img alt="{alt}" width="{width}" src="data:image/png;base64,{data}">'
