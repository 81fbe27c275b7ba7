"""The fast reader of CSV files: the same columns as row by row, or none at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc.tables import csv
from localarc.tables.csv import read_any_csv, read_csv
from localarc.tables.file_columns import TableError
from localarc.tables.plain_csv import read_plain_csv

ODD = [
    *("", " ", " 0.5", "0.5 ", "+1", "1.", ".5", "1_000", "0x10", "nan", "inf", "-inf", "NA"),
    *("null", "None", "true", "1e400", "1e-400", "-0", "0,5", "1;2", "\t1", "1.5f", "1d", '"1"'),
]
CELLS = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**30), 10**30).map(str),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.sampled_from(ODD),
    st.text(max_size=3),
)
LABELS = st.one_of(st.sampled_from(["north", " ", "", "NA", "1", "01", "a b"]), st.text(max_size=3))
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])


def both(path: Path) -> None:
    """Whatever the fast reader takes, the other one reads in the same way."""
    fast = read_plain_csv(path, ["x", "s"], "g")
    if fast is None:
        return
    slow = read_any_csv(path, ["x", "s"], "g")
    assert {name: part.tolist() for name, part in fast[0].items()} == {
        name: part.tolist() for name, part in slow.numbers.items()
    }
    assert fast[1] == slow.labels


@pytest.mark.slow
@given(rows=st.lists(st.tuples(CELLS, CELLS, LABELS), min_size=1, max_size=4), end=ENDS)
def test_what_the_fast_reader_takes_is_read_as_row_by_row(
    rows: list[tuple[str, str, str]], end: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "plain.csv"
    text = end.join(["x,s,g", *(",".join(row) for row in rows)])
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    both(path)


@given(content=st.binary(max_size=60))
def test_any_bytes_are_read_as_row_by_row(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.csv"
    path.write_bytes(b"x,s,g\n1,2,a\n" + content)
    both(path)


def test_a_plain_table_is_read_fast(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_bytes(b"\xef\xbb\xbfx,s,other,g\r\n1,2e-3,text,north\r\n-3.5,4,,south\r\n")
    found = read_plain_csv(path, ["x", "s"], "g")
    assert found is not None
    assert [part.tolist() for part in found[0].values()] == [[1.0, -3.5], [2e-3, 4.0]]
    assert found[1] == ["north", "south"]


def test_every_digit_of_a_number_counts(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_cauchy(5000)
    path = tmp_path / "digits.csv"
    path.write_text("x,s\n" + "".join(f"{v!r},{v:.30g}\n" for v in values.tolist()))
    found = read_plain_csv(path, ["x", "s"], None)
    assert found is not None
    np.testing.assert_array_equal(found[0]["x"], values)
    np.testing.assert_array_equal(found[0]["s"], values)


def test_an_error_names_the_line_after_blank_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "LARGE", 0)
    path = tmp_path / "lines.csv"
    path.write_text("x,s\n1,2\n\n\n3,4\n")
    assert read_plain_csv(path, ["x", "s"], None) is not None
    assert read_csv(path, ["x", "s"], None).location(1) == "row 2 (line 5)"
    path.write_text("x,s\n1,2\n\n3,four\n")
    with pytest.raises(TableError, match=r"row 2 \(line 4\), column 's'"):
        read_csv(path, ["x", "s"], None)
