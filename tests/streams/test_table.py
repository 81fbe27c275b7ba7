"""Tables are read as streams, or rejected with a one-sentence error."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from localarc.streams.tables import TableError, read_table

ROWS = "a,b,s,cost,who\n0.5,1,0.1,1,x\n1.5,2,0.2,0.5,y\n2.5,3,0.3,0,x\n"


def write(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def write_parquet(folder: Path, **columns: object) -> Path:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


def error_message(path: Path, **options: object) -> str:
    chosen = {"features": ["a", "b"], "score": "s"} | options
    with pytest.raises(TableError) as error:
        read_table(path, **chosen)  # type: ignore[arg-type]
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_rows_are_rounds_in_the_order_of_the_file(tmp_path: Path) -> None:
    stream = read_table(write(tmp_path, ROWS), ["b", "a"], "s", group="who")
    np.testing.assert_array_equal(stream.X, [[1, 0.5], [2, 1.5], [3, 2.5]])
    assert stream.features == ("b", "a")
    assert stream.groups == ("x", "y", "x")
    assert stream.curves.losses_at([0.1, 0.1, 0.1]).tolist() == [0.0, 1.0, 1.0]
    assert stream.curves.sizes_at([0.1, 0.1, 0.1]).tolist() == [0.2, 0.2, 0.2]


def test_without_features_x_is_the_number_of_the_round(tmp_path: Path) -> None:
    stream = read_table(write(tmp_path, ROWS), None, "s")
    assert (stream.X.tolist(), stream.features) == ([[1.0], [2.0], [3.0]], ("round",))


def test_sizes_start_from_a_width_and_are_not_guessed_from_negative_scores(tmp_path: Path) -> None:
    path = write(tmp_path, "a,s,w\n1,-0.5,2\n2,0.5,3\n")
    sized = read_table(path, ["a"], "s", width="w")
    assert sized.curves.sizes_at([0.5, -2.0]).tolist() == [3.0, 0.0]
    assert np.isnan(read_table(path, ["a"], "s").curves.sizes_at([0.5, 0.5])).all()
    assert "has no column 'width'" in error_message(path, features=["a"], width="width")


def test_a_loss_column_gives_the_loss_of_a_miss(tmp_path: Path) -> None:
    stream = read_table(write(tmp_path, ROWS), ["a"], "s", loss="cost")
    assert stream.curves.losses_at([0.0, 0.0, 0.0]).tolist() == [1.0, 0.5, 0.0]


def test_parquet_and_csv_give_the_same_stream(tmp_path: Path) -> None:
    columns = {"a": [0.5, 1.5, 2.5], "b": [1, 2, 3], "s": [0.1, 0.2, 0.3], "who": ["x", "y", "x"]}
    left = read_table(write(tmp_path, ROWS), ["a", "b"], "s", group="who")
    right = read_table(write_parquet(tmp_path, **columns), ["a", "b"], "s", group="who")
    np.testing.assert_array_equal(left.X, right.X)
    np.testing.assert_array_equal(left.curves.breakpoints, right.curves.breakpoints)
    assert left.groups == right.groups


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + ROWS.encode(),
        ROWS.replace("\n", "\r\n").encode(),
        ROWS.encode() + b"\n\n",
        ROWS.replace("a,b", '"a","b"', 1).encode(),
    ],
)
def test_common_variants_of_csv_are_read(tmp_path: Path, text: bytes) -> None:
    assert len(read_table(write(tmp_path, text), ["a", "b"], "s")) == 3


@pytest.mark.parametrize("cell", ["abc", "nan", "NaN", "inf", "-Infinity", "1_000", "1,5", ""])
def test_a_cell_that_is_not_a_finite_number_is_reported_with_row_line_and_column(
    tmp_path: Path, cell: str
) -> None:
    message = error_message(write(tmp_path, ROWS.replace("1.5", f'"{cell}"')))
    assert "row 2 (line 3), column 'a'" in message
    assert "empty" in message if not cell else repr(cell) in message


def test_lines_and_rows_are_counted_separately(tmp_path: Path) -> None:
    text = 'a,b,s,note\n1,2,3,"two\nlines"\n\n1,x,3,short\n'
    assert "row 2 (line 5), column 'b'" in error_message(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b,s\n", "a header but no rows"),
        ("a,a,s\n1,2,3\n", "more than one column 'a'"),
        ("a,B ,s\n1,2,3\n", "has no column 'b': it has 'a', 'B ', 's'; the closest is 'B '."),
        ("a;b;s\n1;2;3\n", "separated by ';'"),
        ("a,b,s\n1,2,3\n4,5\n", "row 2 (line 3): 2 cells, but the header has 3"),
        ("a,b,s\n1,2,3\n4,5,6,7\n", "row 2 (line 3): 4 cells, but the header has 3"),
        ('a,b,s\n1,2,"3\n', "line 2: not comma-separated text"),
        ("a,b,s\n1,2,3\n1,5,6\n", "column 'a': the feature is 1 in every row"),
        ("a,b,s\n1,é,3\n".encode("latin-1"), "not UTF-8 text: byte 0xe9"),
    ],
)
def test_the_error_of_a_bad_csv_names_the_problem(
    tmp_path: Path, text: str | bytes, expected: str
) -> None:
    assert expected in error_message(write(tmp_path, text))


def test_files_that_are_not_tables_are_rejected(tmp_path: Path) -> None:
    assert "does not exist" in error_message(tmp_path / "none.csv")
    assert "ends in .csv or .parquet" in error_message(write(tmp_path, ROWS, "t.xlsx"))
    (tmp_path / "folder.csv").mkdir()
    assert "not a table" in error_message(tmp_path / "folder.csv")


@pytest.mark.parametrize("cost", ["-0.5", "1.5"])
def test_a_loss_out_of_bounds_is_reported_with_its_row(tmp_path: Path, cost: str) -> None:
    path = write(tmp_path, ROWS.replace("0.2,0.5", f"0.2,{cost}"))
    message = error_message(path, loss="cost")
    assert (
        f"row 2 (line 3), column 'cost': a loss must lie between 0 and the loss bound 1, got {cost}"
        in message
    )


def test_a_larger_loss_bound_allows_larger_losses(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS.replace("0.2,0.5", "0.2,1.5"))
    assert read_table(path, ["a"], "s", loss="cost", loss_bound=2.0).curves.bound == 2.0


def test_a_missing_group_is_rejected(tmp_path: Path) -> None:
    message = error_message(write(tmp_path, ROWS.replace("0.5,y", "0.5, ")), group="who")
    assert "row 2 (line 3), column 'who': the cell is empty" in message


def test_a_stream_may_have_no_features(tmp_path: Path) -> None:
    stream = read_table(write(tmp_path, ROWS), (), "s")
    assert (stream.X.shape, stream.features) == ((len(stream), 0), ())
    assert read_table(write(tmp_path, ROWS), None, "s").features == ("round",)


def test_features_must_be_distinct(tmp_path: Path) -> None:
    for features in (["a", "a"], [""]):
        with pytest.raises(ValueError, match="at least one column, and each only once"):
            read_table(write(tmp_path, ROWS), features, "s")


def test_a_loss_bound_below_the_loss_of_a_miss_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="loss_bound must be at least 1"):
        read_table(write(tmp_path, ROWS), ["a"], "s", loss_bound=0.5)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1.0, None, 2.0], "row 2, column 'a': the cell is empty"),
        (
            [1.0, 2.0, float("nan")],
            "row 3, column 'a': expected a finite number such as 0.5, got nan",
        ),
        (["1", "2", "3"], "row 1, column 'a': expected a finite number such as 0.5, got '1'"),
        ([4, 4, 4], "column 'a': the feature is 4 in every row"),
    ],
)
def test_the_error_of_a_bad_parquet_file_names_the_problem(
    tmp_path: Path, column: list[object], expected: str
) -> None:
    path = write_parquet(tmp_path, a=column, b=[1, 2, 3], s=[0.1, 0.2, 0.3])
    assert expected in error_message(path)


def test_a_damaged_or_empty_parquet_file_is_rejected(tmp_path: Path) -> None:
    path = write_parquet(tmp_path, a=[1.0, 2.0], b=[1, 2], s=[0.1, 0.2])
    assert "has no column 'c'" in error_message(path, score="c")
    path.write_bytes(path.read_bytes()[:100])
    assert "not a Parquet file, or it is damaged" in error_message(path)
    path.write_bytes(b"")
    assert "not a Parquet file, or it is damaged" in error_message(path)
    assert "no rows" in error_message(write_parquet(tmp_path, a=[], b=[], s=[]))


def test_without_pyarrow_the_error_names_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert error_message(write(tmp_path, b"", "t.parquet")).endswith(
        "pip install 'localarc[parquet]'"
    )
