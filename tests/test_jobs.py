"""The jobs: what a page says is what its script prints and draws, and both can be downloaded."""

from __future__ import annotations

import ast
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from benchmarks.jobs import FOLDER, PAGES, TOOL, filled, run_notebook
from numpy.typing import NDArray

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
FINDING = re.compile(r"^\*\*(.+?)\*\*$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## With .*: (\d+) lines$", re.MULTILINE)

PAGE = """# A job

Some [words](../models.md) and [more](https://example.org).

```python
x = 1
```

Then

```python
print(x)
```

```text
1
```

![A picture](job.png)

**It is 1.**
"""

every_page = pytest.mark.parametrize("name", PAGES)


def text_of(name: str) -> str:
    return PAGES[name].read_text(encoding="utf-8")


def finding(page: str) -> str:
    (found,) = FINDING.findall(page)
    return " ".join(found.split())


def test_a_script_has_the_prose_as_comments_and_the_code_in_order() -> None:
    assert TOOL["script"](PAGE) == (
        "# # A job\n#\n# Some words and [more](https://example.org).\n\n"
        "x = 1\n\n# Then\n\nprint(x)\n\n# **It is 1.**\n"
    )


def test_a_notebook_has_a_cell_for_each_piece_and_the_output_of_the_page() -> None:
    made = json.loads(TOOL["notebook"](PAGE))
    kinds = [(cell["cell_type"], cell["source"].split("\n")[0]) for cell in made["cells"]]
    prose = [("markdown", "# A job"), ("markdown", "Then"), ("markdown", "**It is 1.**")]
    code = [("code", "x = 1"), ("code", "print(x)")]
    assert kinds == [prose[0], code[0], prose[1], code[1], prose[2]]
    (output,) = made["cells"][3]["outputs"]
    assert output == {"output_type": "stream", "name": "stdout", "text": "1\n"}
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])


@every_page
def test_a_script_has_the_code_of_its_notebook(name: str) -> None:
    cells = json.loads(TOOL["notebook"](text_of(name)))["cells"]
    code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    assert ast.dump(ast.parse(TOOL["script"](text_of(name)))) == ast.dump(ast.parse(code))


def test_the_tool_writes_both_files(tmp_path: Path) -> None:
    (tmp_path / "job.md").write_text(PAGE)
    TOOL["main"](tmp_path / "job.md", tmp_path / "made")
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["job.ipynb", "job.py"]


def test_filling_a_page_replaces_what_its_code_printed() -> None:
    stale = PAGE.replace("```text\n1\n", "```text\n2\n")
    assert filled(stale)[0] == PAGE


def test_numbers_may_differ_by_one_in_the_last_digit_and_not_by_more() -> None:
    assert_same_output("risk 10.2 % of 1,001", "risk 10.1 % of 1,000")
    with pytest.raises(AssertionError, match=r"10\.3 instead of 10\.1"):
        assert_same_output("risk 10.3 %", "risk 10.1 %")


@every_page
def test_every_page_states_one_finding_whose_numbers_its_code_prints(name: str) -> None:
    printed = NUMBER.findall(TOOL["printed"](text_of(name)))
    numbers = NUMBER.findall(finding(text_of(name)))
    assert numbers
    assert [number for number in numbers if number not in printed] == []


@every_page
def test_the_lines_of_ours_and_of_a_peer_are_counted_in_their_headings(name: str) -> None:
    page = text_of(name)
    sections = [*SECTION.finditer(page)]
    assert len(sections) >= 2
    assert sections[0][0].startswith("## With localarc")
    for section in sections:
        rest = page[section.end() :].split("\n## ")[0]
        code = [cell.text for cell in TOOL["cells"](rest) if cell.kind == "python"]
        lines = [line for line in "\n".join(code).splitlines() if line.strip()]
        assert len(lines) == int(section[1]), section[0]


@every_page
def test_the_gallery_shows_the_picture_and_the_finding_of_every_page(name: str) -> None:
    gallery = " ".join((FOLDER / "index.md").read_text(encoding="utf-8").split())
    assert f"]({name}.md)" in gallery
    assert f"]({name}.png)" in gallery
    assert finding(text_of(name)) in gallery


@every_page
def test_a_notebook_prints_and_draws_what_its_page_shows(name: str) -> None:
    if not os.environ.get("LOCALARC_JOBS"):
        pytest.skip("LOCALARC_JOBS is not set: make jobs runs this")
    page = text_of(name)
    found = run_notebook(TOOL["notebook"](page))
    assert_same_output(found.output, TOOL["printed"](page))
    (picture,) = found.pictures
    assert picture == f"{name}.png"
    assert_same_picture(found.pictures[picture], (FOLDER / picture).read_bytes())


def assert_same_output(found: str, expected: str) -> None:
    """The same words, and numbers that differ by one in the last digit: processors round."""
    assert NUMBER.sub("#", found).split() == NUMBER.sub("#", expected).split(), found
    for one, other in zip(NUMBER.findall(found), NUMBER.findall(expected), strict=True):
        digits = len(other.partition(".")[2])
        difference = abs(float(one.replace(",", "")) - float(other.replace(",", "")))
        assert difference < 1.5 * 10.0**-digits, f"{one} instead of {other} in:\n{found}"


def assert_same_picture(found: bytes, expected: bytes) -> None:
    one, other = _pixels(found), _pixels(expected)
    assert one.shape == other.shape
    assert np.abs(one - other).mean() < 0.01


def _pixels(content: bytes) -> NDArray[np.float64]:
    from matplotlib import image

    return np.asarray(image.imread(io.BytesIO(content)), dtype=np.float64)
