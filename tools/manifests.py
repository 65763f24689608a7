"""Generate deployment files from the code: Kubernetes, compose, Prometheus, dashboards."""

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml

from tools.deployment import compose, dashboards, monitoring, operator
from tools.deployment.chart import chart
from tools.deployment.services import ROOT, SIMULATOR, bus_services
from tools.deployment.workloads import Object, provision, workload

K8S = ROOT / "deploy" / "k8s"
SERVICES, PARTS = K8S / "base" / "services", K8S / "components"
HEADER = "# Written by tools/manifests.py (`make manifests`); change it there.\n"


class _Plain(yaml.SafeDumper):
    """Writes every list and mapping in full, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        """Repeat what occurs twice, so that a reader need not follow anchors."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists under their name, as everywhere in this repository."""
        super().increase_indent(flow, indentless=False)


def text_of(objects: list[Object]) -> str:
    """Return objects as a file of documents."""
    dumped = [yaml.dump(each, Dumper=_Plain, sort_keys=False, width=1000) for each in objects]
    return HEADER + "---\n" + "---\n".join(dumped)


def kustomization(resources: list[str]) -> str:
    """Return the list of a folder of generated files."""
    kind = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    return text_of([{**kind, "resources": resources}])


def generated() -> dict[Path, str]:
    """Return the files that are generated as a whole."""
    files = {SERVICES / f"{name}.yaml": text_of(workload(name)) for name in bus_services()}
    files[SERVICES / "provision.yaml"] = text_of(provision())
    files[SERVICES / "kustomization.yaml"] = kustomization(sorted(path.name for path in files))
    files[PARTS / "simulator" / "simulator.yaml"] = text_of(workload(SIMULATOR))
    files[PARTS / "operator" / "definitions.yaml"] = text_of(operator.resource_definitions())
    rights = operator.rights() + operator.roles_of_people()
    files[PARTS / "operator" / "rights.yaml"] = text_of(rights)
    files[PARTS / "operator" / "operator.yaml"] = text_of(operator.operator_workload())
    files[PARTS / "operator" / "network.yaml"] = text_of(operator.policies())
    files[PARTS / "hpa" / "autoscalers.yaml"] = text_of(monitoring.autoscalers())
    files[PARTS / "keda" / "scalers.yaml"] = text_of(monitoring.scalers())
    files[PARTS / "prometheus-operator" / "rules.yaml"] = text_of([monitoring.rule()])
    files[PARTS / "prometheus-operator" / "monitors.yaml"] = text_of([monitoring.monitor()])
    example = (ROOT / "examples" / "exclaims.py").read_text()
    files[K8S / "examples" / "drop-in" / "extractor.py"] = example
    for name, text in dashboards.files().items():
        files[PARTS / "grafana" / name] = text
    return files | chart.files()


def amended() -> dict[Path, str]:
    """Return the files of which only the marked parts are generated."""
    path, scraping = ROOT / "docker-compose.yml", ROOT / "deploy" / "prometheus" / "prometheus.yml"
    text = compose.replace_marked(path.read_text(), "services", compose.plain_services())
    text = compose.replace_marked(text, "provider keys", compose.provider_keys())
    text = compose.replace_marked(text, "secrets", compose.secret_files())
    targets = compose.replace_marked(scraping.read_text(), "targets", compose.targets())
    return {path: text, scraping: targets}


def main() -> int:
    """Write the files, or print which of them are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; 1 if a file is out of date"
    )
    check = parser.parse_args().check
    differing = 0
    files = generated() | amended()
    stray = set(SERVICES.glob("*.yaml")) - set(files)
    for path, text in files.items():
        if path.exists() and path.read_text() == text:
            continue
        differing += 1
        print(path.relative_to(ROOT))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in stray:
        differing += 1
        print(f"{path.relative_to(ROOT)} belongs to no service")
        if not check:
            path.unlink()
    return int(check and differing > 0)


if __name__ == "__main__":
    sys.exit(main())
