"""Private names used across rooms: `python tests/rooms.py` lists them, and fails if there are any.

A room is a folder or module directly inside a package: `localarc.many`, `localarc.serialization`,
`localarc_service.storage`. Attributes belong to a room by their name: `x._name` is a use of another
room if only others define that name. What no room defines belongs to Python or to a package, as do
the four names of every `NamedTuple`.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

ROOT = Path(__file__).parents[1]
OF_NAMED_TUPLES = frozenset({"_asdict", "_fields", "_make", "_replace"})

Use: TypeAlias = tuple[Path, int, str]
"""A file, a line, and the private name there."""


class Module(NamedTuple):
    """A module of one of the packages."""

    path: Path
    name: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """Where it is at home."""
        return room_of(self.name)


def room_of(name: str) -> str:
    """The room of a module, given its dotted name."""
    return ".".join(name.split(".")[:2])


def is_private(name: str) -> bool:
    """Whether a name is for its own room: one underscore in front, not two."""
    own = name.startswith("_") and not name.startswith("__")
    return own and name not in OF_NAMED_TUPLES


def modules(root: Path) -> Iterator[Module]:
    """The modules of the library and of the other distributions."""
    for source in (root / "src", *sorted(root.glob("packages/*/src"))):
        for path in sorted(source.rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            name = ".".join(part for part in parts if part != "__init__")
            yield Module(path, name, ast.parse(path.read_text()))


def uses_across_rooms(root: Path) -> list[Use]:
    """Every use of a private name of another room."""
    known = list(modules(root))
    homes = homes_of(known)
    packages = {module.name.split(".")[0] for module in known}
    uses: set[Use] = set()
    for module in known:
        for line, name in attributes(module.tree):
            if homes.get(name) and module.room not in homes[name]:
                uses.add((module.path, line, name))
        for line, name in imports(module.tree):
            if name.split(".")[0] in packages and is_foreign(name, module.name):
                uses.add((module.path, line, name))
    return sorted(uses)


def homes_of(known: Iterable[Module]) -> dict[str, set[str]]:
    """The rooms that define each private name."""
    homes: dict[str, set[str]] = defaultdict(set)
    for module in known:
        for name in defined(module.tree):
            homes[name].add(module.room)
    return homes


def defined(tree: ast.Module) -> Iterator[str]:
    """The private names that a module defines: functions, classes, variables, fields."""
    for node in ast.walk(tree):
        name = ""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.attr if is_own(node) else ""
        if is_private(name):
            yield name


def attributes(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The private attributes that are used of anything but `self` and `cls`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not is_own(node):
            yield node.lineno, node.attr


def is_own(node: ast.Attribute) -> bool:
    """Whether it is an attribute of `self` or `cls`."""
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The modules and names that are imported, in full."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def is_foreign(name: str, importer: str) -> bool:
    """Whether an import is of something private in another room.

    A private module directly inside a package is for all of it.
    """
    package, *rest = name.split(".")
    if room_of(name) == room_of(importer) or not rest:
        return False
    inside = rest[1:] if package == importer.split(".")[0] else rest
    return any(map(is_private, inside))


def main() -> int:
    """Print every use; 1 if there is any."""
    uses = uses_across_rooms(ROOT)
    for path, line, name in uses:
        print(f"{path.relative_to(ROOT)}:{line}: {name} is private in another room")
    return int(bool(uses))


if __name__ == "__main__":
    sys.exit(main())
