"""The API reference: a page for every public module, made from its docstrings."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import localarc

ELSEWHERE = (
    "localarc_client",
    *("localarc_lab.arena", "localarc_lab.compare", "localarc_lab.data"),
    *("localarc_lab.experiments", "localarc_lab.peers"),
)


def public_modules() -> list[str]:
    """The modules of all packages that say what they export."""
    names = [f"localarc.{name}" for name in dir(localarc) if not name.startswith("_")]
    return sorted([name for name in (*names, *ELSEWHERE) if exports(name)])


def exports(module: str) -> list[str]:
    """The `__all__` of a module, read without importing it: extras may be missing."""
    spec = find_spec(module)
    tree = (
        ast.parse(Path(spec.origin).read_text(encoding="utf-8")) if spec and spec.origin else None
    )
    found: list[str] = []
    for node in tree.body if tree else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found += ast.literal_eval(node.value)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and node.module:
            found += exports(node.module)
    return found


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the reference pages."""
    modules = public_modules()
    contents = {"localarc": _front(modules)} | {name: _page(name) for name in modules}
    for name, content in contents.items():
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


def _page(module: str) -> str:
    """Everything that the module exports; a function in a file of its own name is asked for."""
    own = "    options:\n      show_root_toc_entry: false\n"
    shadowed = "".join(_entry(f"{module}.{name}.{name}") for name in _in_own_files(module))
    return f"# `{module}`\n\n::: {module}\n{own}\n{shadowed}"


def _in_own_files(module: str) -> list[str]:
    """Names that griffe takes for the file, as `maps` of `figures/maps.py`."""
    spec = find_spec(module)
    folders = (spec.submodule_search_locations if spec else None) or []
    files = {path.stem for folder in folders for path in Path(folder).glob("*.py")}
    return [name for name in exports(module) if name in files]


def _entry(name: str, inherited: bool = False) -> str:
    options = f"    options:\n      show_root_heading: true\n      inherited_members: {inherited}\n"
    return f"::: {name}\n{options}\n"


def _front(modules: list[str]) -> str:
    """Names of `localarc` itself; those that a public module also exports are documented there."""
    home = {name: module for module in modules for name in exports(module)}
    names = [name for name in exports("localarc") if not name.startswith("_")]
    elsewhere = "\n".join(f"- [`{name}`][{home[name]}.{name}]" for name in names if name in home)
    here = "".join(_entry(f"localarc.{name}", inherited=True) for name in names if name not in home)
    return f"# `localarc`\n\n{here}## Also in `localarc`\n\n{elsewhere}\n"
