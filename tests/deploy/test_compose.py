"""compose.yaml is valid, and Prometheus and Grafana get our own files from it."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from deploy.dockerfile import ROOT, stages
from deploy.sandbox import hand_over, lint, program, run

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.deploy

FOLDER = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]


def mounts(service: str) -> dict[str, Path]:
    """The files of ours that a service reads, by where it finds them."""
    parts = [volume.split(":") for volume in SERVICES[service]["volumes"]]
    return {to: (FOLDER / name).resolve() for name, to, *_ in parts if name.startswith(".")}


def test_compose_follows_the_specification() -> None:
    lint("check-jsonschema", "--builtin-schema", "vendor.compose-spec", FOLDER / "compose.yaml")


def test_every_file_that_is_mounted_is_there() -> None:
    for service in SERVICES:
        for path in mounts(service).values():
            assert path.is_file(), path


def test_every_volume_and_secret_that_is_used_is_declared() -> None:
    for service in SERVICES.values():
        named = {volume.split(":")[0] for volume in service["volumes"] if volume[0] != "."}
        assert named - {".."} <= COMPOSE["volumes"].keys()
        assert set(service.get("secrets", [])) <= COMPOSE["secrets"].keys()


def test_the_service_has_a_read_only_root_and_no_capabilities() -> None:
    service = SERVICES["localarc"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    (volume,) = service["volumes"]
    assert volume.split(":")[1] == stages()[-1].last("VOLUME")


def test_every_port_is_for_this_machine_alone() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_prometheus_accepts_its_files_where_compose_puts_them(open_folder: Path) -> None:
    program("promtool", "prometheus")
    empty, token = open_folder / "empty", open_folder / "token"
    empty.mkdir()
    hand_over(empty)
    token.write_text("a-token")
    secrets = {f"/run/secrets/{name}": token for name in SERVICES["prometheus"]["secrets"]}
    sources = {to: copied(path, open_folder) for to, path in mounts("prometheus").items()}
    config = SERVICES["prometheus"]["command"][0].removeprefix("--config.file=")
    done = run(
        ["promtool", "check", "config", config],
        environment={"PATH": "/usr/bin"},
        read=sources | secrets,
        write={"/etc/prometheus": empty},  # instead of this machine's
    )
    assert done.returncode == 0, done.stderr
    assert "1 rule files found" in done.stdout


def copied(path: Path, folder: Path) -> Path:
    """A copy that the user of the sandbox can read, wherever the checkout is."""
    copy = folder / path.name
    copy.write_bytes(path.read_bytes())
    return copy


def test_grafana_looks_for_the_dashboard_where_it_is_mounted() -> None:
    provided = mounts("grafana")
    (provider,) = read("grafana/dashboards.yaml")["providers"]
    dashboards = [at for at, path in provided.items() if path.name == "grafana.json"]
    assert [str(Path(at).parent) for at in dashboards] == [provider["options"]["path"]]


def test_the_data_source_is_the_prometheus_of_compose() -> None:
    (source,) = read("grafana/datasources.yaml")["datasources"]
    assert source["url"] == "http://prometheus:9090"
    dashboard = json.loads((ROOT / "docs" / "service" / "grafana.json").read_text())
    (variable,) = dashboard["templating"]["list"]
    assert variable["query"] == source["type"] == "prometheus"


def read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return content


def test_secrets_are_made_once_and_only_their_owner_reaches_them(tmp_path: Path) -> None:
    script = tmp_path / "make-secrets.sh"
    script.write_bytes((FOLDER / "make-secrets.sh").read_bytes())
    script.chmod(0o755)
    made = [secrets(script) for _ in range(2)]
    assert made[0] == made[1]
    files = {f"secrets/{name}" for name in COMPOSE["secrets"]}
    assert made[0].keys() == files | {".env"}
    assert f"read {made[0]['secrets/metrics-token']}" in made[0]["secrets/tokens"]
    assert {value["file"] for value in COMPOSE["secrets"].values()} == files
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600


def secrets(script: Path) -> dict[str, str]:
    subprocess.run([script], check=True, capture_output=True)
    paths = [script.with_name(".env"), *script.with_name("secrets").iterdir()]
    return {str(path.relative_to(script.parent)): path.read_text().rstrip() for path in paths}
