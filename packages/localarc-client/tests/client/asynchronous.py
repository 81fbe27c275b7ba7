"""The asynchronous client, from the text of `client.py`.

What takes time is awaited; docstrings refer to those of `Client`.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "localarc_client"
SOURCE, TARGET = PACKAGE / "client.py", PACKAGE / "async_client.py"

HEAD = '"""The asynchronous client; `generate.py` of the tests writes it from `client.py`."""'
ABOUT = '''"""Asynchronous client of a localarc service; use it in an `async with` block.

    Tasks may share it. A request without a response is repeated with the same id, and the service
    processes it once.
{parameters}
    See Also
    --------
    Client : The synchronous client. Its methods have the same names and parameters, and describe
        them with an example each.

    Examples
    --------
    A transport stands in for the service, so that the example runs without one:

    >>> import asyncio, httpx
    >>> body = {{"id": "a", "seq": 1, "threshold": 0.5}}
    >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
    >>> async def main():
    ...     async with AsyncClient("http://127.0.0.1:8090", transport=transport) as client:
    ...         return await client.predict("demand", x=[0.2, 0.7], id="a")
    >>> asyncio.run(main()).threshold
    0.5
    """'''
AWAITED = (
    (r"^    def (?!__init__)", "    async def "),
    (r"(self\._send\(|self\._try\(|self\._http\.request\(|self\.close\(\))", r"await \1"),
    (r"\bwith self\._http", "async with self._http"),
    (r"\bfor (\w+) in response\.iter_bytes", r"async for \1 in response.aiter_bytes"),
    (r"^( *)yield from (.*)$", r"\1for event in \2:\n\1    yield event"),
    (r"response\.read\(\)", "await response.aread()"),
    (r"self\._http\.close\(\)", "await self._http.aclose()"),
    (r"time\.sleep", "await asyncio.sleep"),
    (r"__(enter|exit)__", r"__a\1__"),
    (r"\bhttpx\.(BaseTransport|Client)\b", r"httpx.Async\1"),
    (r"\b(WorkerTransport|Generator)\b", r"Async\1"),
    (r"\[AnyEvent, None, None\]", "[AnyEvent, None]"),
    (r"^class Client\b", "class AsyncClient"),
    (r"^import time$", "import asyncio"),
)


def asynchronous(text: str) -> str:
    """The asynchronous client that corresponds to the synchronous one."""
    lines = text.splitlines()
    (made,) = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    methods = [node for node in made.body if isinstance(node, ast.FunctionDef)]
    for method in reversed(methods):
        if summary := _summary(method):
            _replace(lines, method, summary)
    about = ast.get_docstring(made, clean=False) or ""
    _replace(lines, made, ABOUT.format(parameters=_parameters(about)))
    code = "\n".join([HEAD, *lines[1:]]) + "\n"
    for pattern, replacement in AWAITED:
        code = re.sub(pattern, replacement, code, flags=re.MULTILINE)
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(ruff, input=code, capture_output=True, text=True, check=True).stdout


def _summary(method: ast.FunctionDef) -> str | None:
    """The first line of a docstring, and where the rest of it is."""
    first, _, rest = (ast.get_docstring(method) or "").partition("\n")
    if not rest:
        return None
    see = f"See `Client.{method.name}` for the parameters and the result."
    return f'"""{first}\n\n        {see}\n        """'


def _parameters(about: str) -> str:
    """The parameters and errors of the class."""
    return about[about.index("\n    Parameters\n") : about.index("    Examples\n")].rstrip() + "\n"


def _replace(lines: list[str], node: ast.ClassDef | ast.FunctionDef, docstring: str) -> None:
    """Put another docstring in the place of a node's."""
    old = node.body[0]
    assert old.end_lineno is not None
    lines[old.lineno - 1 : old.end_lineno] = (" " * old.col_offset + docstring).split("\n")
