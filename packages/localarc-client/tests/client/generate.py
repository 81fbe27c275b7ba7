"""Write what follows from `client.py` and `wire/routes.py`: `python generate.py`.

The asynchronous client, and the tables of methods and endpoints in the documentation.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from client.asynchronous import SOURCE, TARGET, asynchronous
from localarc_client import Client
from localarc_client.wire import routes
from localarc_client.wire.routes import ROUTES, Route

DOCS = Path(__file__).parents[4] / "docs"


def _between_marks(text: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A page with another table between its marks."""
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    before, begin, rest = text.partition("<!-- generate.py -->\n")
    _, end, after = rest.partition("\n<!-- end -->")
    return f"{before}{begin}\n{table}\n{end}{after}"


def endpoints(page: str) -> str:
    """The page of the service, with the table of its endpoints."""
    rows = [("endpoint", "", "details", "scope"), ("---",) * 4]
    for each in ROUTES:
        rows.append((_request(each), each.summary, each.details, each.scope or "none"))
    return _between_marks(page, rows)


def methods(page: str) -> str:
    """The page of the client, with the table of its methods."""
    rows = [("method", "returns", "endpoint"), ("---",) * 3]
    for name, method in vars(Client).items():
        if not name.startswith("_") and name != "close":
            (route,) = re.findall(r"\broutes\.([A-Z_]+)", inspect.getsource(method))
            request = _request(getattr(routes, route))
            rows.append((f"`{name}({_arguments(method)})`", f"`{_returned(method)}`", request))
    return _between_marks(page, rows)


def _arguments(method: Callable[..., Any]) -> str:
    _, *parameters = inspect.signature(method).parameters.values()
    return ", ".join(each.name + "=" * (each.default is not each.empty) for each in parameters)


def _returned(method: Callable[..., Any]) -> str:
    return str(inspect.signature(method).return_annotation)


def _request(route: Route[Any]) -> str:
    return f"`{route.method} {route.path}`"


GENERATED: dict[Path, Callable[[], str]] = {
    TARGET: lambda: asynchronous(SOURCE.read_text(encoding="utf-8")),
    DOCS / "service.md": lambda: endpoints((DOCS / "service.md").read_text(encoding="utf-8")),
    DOCS / "client.md": lambda: methods((DOCS / "client.md").read_text(encoding="utf-8")),
}

if __name__ == "__main__":
    for target, made in GENERATED.items():
        target.write_text(made(), encoding="utf-8")
