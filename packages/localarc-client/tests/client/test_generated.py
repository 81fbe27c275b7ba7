"""The asynchronous client is the one that is generated from the synchronous client."""

from __future__ import annotations

import ast

from client.generate_async import SOURCE, TARGET, asynchronous


def test_the_asynchronous_client_is_written_from_the_synchronous_one() -> None:
    expected = asynchronous(SOURCE.read_text(encoding="utf-8"))
    assert TARGET.read_text(encoding="utf-8") == expected, "run generate_async.py beside this test"


def test_a_further_method_is_awaited_and_refers_to_the_other_client() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    method = '''
    def count(self) -> int:
        """Count.

        Parameters
        ----------
        none
        """
        return self._send(requests.count())
'''
    made = ast.parse(asynchronous(text + method))
    (client,) = [node for node in made.body if isinstance(node, ast.ClassDef)]
    added = client.body[-1]
    assert isinstance(added, ast.AsyncFunctionDef)
    assert ast.unparse(added.body[-1]) == "return await self._send(requests.count())"
    assert "See `Client.count`" in (ast.get_docstring(added) or "")
