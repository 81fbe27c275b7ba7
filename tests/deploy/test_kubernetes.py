"""The manifests follow the schemas of Kubernetes, and agree with each other and the image."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deploy.dockerfile import ROOT, stages
from deploy.sandbox import lint

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.deploy

FOLDER = ROOT / "deploy" / "kubernetes"
FILES = sorted(FOLDER.glob("*/*.yaml"))
OURS = [path for path in FILES if path.parent.name != "prometheus-operator"]
WORKLOADS = [FOLDER / "data-folder" / "statefulset.yaml", FOLDER / "postgresql" / "deployment.yaml"]


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def pod(path: Path) -> dict[str, Any]:
    spec: dict[str, Any] = read(path)["spec"]["template"]["spec"]
    return spec


def container(path: Path) -> dict[str, Any]:
    only: dict[str, Any]
    (only,) = pod(path)["containers"]
    return only


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_a_manifest_follows_the_schema_and_has_no_other_field(path: Path) -> None:
    assert "passed for resource" in lint("kubernetes-validate", "--strict", path)


def test_every_selector_selects_the_pods() -> None:
    label = {"app.kubernetes.io/name": "localarc"}
    service, policy, budget = (
        read(FOLDER / name)["spec"]
        for name in (
            "common/service.yaml",
            "common/network-policy.yaml",
            "data-folder/pod-disruption-budget.yaml",
        )
    )
    monitor = read(FOLDER / "prometheus-operator" / "service-monitor.yaml")["spec"]
    assert service["selector"] == label
    selectors = [policy["podSelector"], budget["selector"], monitor["selector"]]
    for path in WORKLOADS:
        spec = read(path)["spec"]
        selectors.append(spec["selector"])
        assert spec["template"]["metadata"]["labels"] == label
    assert selectors == [{"matchLabels": label}] * len(selectors)


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.parent.name)
def test_a_pod_runs_as_the_images_user_and_can_write_to_its_volumes_alone(path: Path) -> None:
    image = stages()[-1]
    context = pod(path)["securityContext"]
    assert context["runAsNonRoot"] is True
    assert f"{context['runAsUser']}:{context['runAsGroup']}" == image.last("USER")
    assert container(path)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    mounted = [mount["mountPath"] for mount in container(path)["volumeMounts"]]
    assert mounted == [image.last("VOLUME"), "/etc/localarc", "/tmp"]


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.parent.name)
def test_probes_ask_the_port_for_health_that_the_image_opens(path: Path) -> None:
    ports = {port["name"]: port["containerPort"] for port in container(path)["ports"]}
    command = stages()[-1].command()
    assert str(ports["health"]) == command[command.index("--health-port") + 1]
    assert ports == {"http": 8090, "health": 8091}
    probes = {name: probe for name, probe in container(path).items() if name.endswith("Probe")}
    asked = {name: probe["httpGet"] for name, probe in probes.items()}
    assert asked["readinessProbe"] == {"path": "/readyz", "port": "health"}
    assert asked["livenessProbe"] == {"path": "/livez", "port": "health"}


def test_prometheus_scrapes_a_port_that_the_service_has() -> None:
    ports = {port["name"] for port in read(FOLDER / "common" / "service.yaml")["spec"]["ports"]}
    (endpoint,) = read(FOLDER / "prometheus-operator" / "service-monitor.yaml")["spec"]["endpoints"]
    assert endpoint["port"] in ports
