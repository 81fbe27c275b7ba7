"""Private names stay in their rooms, and the check that says so sees what it is for."""

from pathlib import Path

import pytest

import rooms

OWNER = """
class Owner:
    _field: int = 0

    def __init__(self):
        self._inside = 1

    def _help(self):
        return self._inside

def _function():
    return 0
"""


def found(root: Path, **sources: str) -> list[str]:
    """The names that are reported, where `lab__x` is a module of the other distribution."""
    for name, source in {"owner": OWNER, **sources}.items():
        where = "packages/lab/src/lab" if name.startswith("lab__") else "src/library"
        path = root / where / (name.removeprefix("lab__").replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return [name for _, _, name in rooms.uses_across_rooms(root)]


def test_no_room_uses_private_names_of_another() -> None:
    assert rooms.uses_across_rooms(rooms.ROOT) == []


@pytest.mark.parametrize("name", ["_inside", "_help", "_field"])
def test_an_attribute_of_another_room_is_a_use(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, guest=f"def f(owner):\n    return owner.{name}\n") == [name]


def test_a_chain_of_attributes_is_followed(tmp_path: Path) -> None:
    source = "class Guest:\n    def f(self):\n        return self.owner._help()\n"
    assert found(tmp_path, guest=source) == ["_help"]


@pytest.mark.parametrize(
    "source",
    [
        "class Guest:\n    def f(self):\n        return self._inside\n",  # it may inherit it
        "_inside = 1\ndef f(other):\n    return other._inside\n",  # the room has one itself
        "import sys\nsys._getframe(1)\n",  # Python's
        "def f(owner):\n    return owner.__dict__, owner._asdict(), owner._replace(a=1)\n",
        "import library.owner\nfrom library.owner import Owner\nimport os._path\n",
    ],
)
def test_what_is_ones_own_or_of_a_package_is_none(tmp_path: Path, source: str) -> None:
    assert found(tmp_path, guest=source) == []


def test_a_folder_is_one_room(tmp_path: Path) -> None:
    guest = "from library.room._b import _c\nprint(_c._d)\n"
    assert found(tmp_path, room__a=guest, room___b="class _c:\n    _d = 1\n") == []


def test_a_private_function_of_another_room_is_not_imported(tmp_path: Path) -> None:
    source = "from library.owner import _function\n"
    assert found(tmp_path, guest=source, lab__x=source) == ["library.owner._function"] * 2


def test_a_private_module_is_for_its_folder(tmp_path: Path) -> None:
    sources = "import library.room._b\n", "from library.room._b import c\n"
    names = found(tmp_path, guest=sources[0], lab__x=sources[1], room___b="c = 1\n")
    assert names == ["library.room._b.c", "library.room._b"]


def test_a_private_module_of_the_library_is_for_all_its_rooms_and_no_other_distribution(
    tmp_path: Path,
) -> None:
    source = "from library._run import run\n"
    assert found(tmp_path, guest=source, lab__x=source, _run="def run(): ...\n") == [
        "library._run.run"
    ]
