"""The asynchronous client, and tables in the documentation, are the ones that are generated."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from client.asynchronous import SOURCE, asynchronous
from client.generate import GENERATED


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_what_is_generated_is_up_to_date(path: Path) -> None:
    found = path.read_text(encoding="utf-8")
    assert found == GENERATED[path](), "run generate.py beside this test"


def test_a_further_method_is_awaited_and_refers_to_the_other_client() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    method = '''
    def count(self) -> int:
        """Count.

        Parameters
        ----------
        none
        """
        return self._send(routes.COUNT)
'''
    made = ast.parse(asynchronous(text + method))
    (client,) = [node for node in made.body if isinstance(node, ast.ClassDef)]
    added = client.body[-1]
    assert isinstance(added, ast.AsyncFunctionDef)
    assert ast.unparse(added.body[-1]) == "return await self._send(routes.COUNT)"
    assert "See `Client.count`" in (ast.get_docstring(added) or "")
