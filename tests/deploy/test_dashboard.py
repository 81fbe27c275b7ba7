"""Grafana's own models know every field of the dashboard, down to panels and queries."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deploy.dockerfile import ROOT

pytest.importorskip("grafana_foundation_sdk", reason="pip install '.[deploy-tests]'")
pytestmark = pytest.mark.deploy

DASHBOARD = ROOT / "docs" / "service" / "grafana.json"


def through_grafana(dashboard: dict[str, Any]) -> Any:
    """Read a dashboard with Grafana's models, which drop fields that they do not know."""
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.cog.plugins import register_default_plugins
    from grafana_foundation_sdk.models.dashboard import Dashboard

    register_default_plugins()
    return json.loads(json.dumps(Dashboard.from_json(dashboard), cls=JSONEncoder))


def lost(before: Any, after: Any, path: str = "") -> list[str]:
    """What is not in the second as it is in the first; more may be in it, such as defaults."""
    if isinstance(before, dict) and isinstance(after, dict):
        gone = [f"{path}/{key}" for key in before.keys() - after.keys()]
        kept = before.keys() & after.keys()
        return gone + [
            each for key in kept for each in lost(before[key], after[key], f"{path}/{key}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [each for at, (a, b) in pairs for each in lost(a, b, f"{path}/{at}")]
    return [] if before == after else [path]


def test_grafana_knows_every_field_of_the_dashboard() -> None:
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    assert lost(dashboard, through_grafana(dashboard)) == []


@pytest.mark.parametrize(("right", "wrong"), [("reduceOptions", "reduce"), ("expr", "expression")])
def test_a_misspelt_field_of_a_panel_or_a_query_is_noticed(right: str, wrong: str) -> None:
    dashboard = json.loads(DASHBOARD.read_text().replace(f'"{right}"', f'"{wrong}"'))
    assert any(wrong in path for path in lost(dashboard, through_grafana(dashboard)))
