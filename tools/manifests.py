"""Write what follows from the code: Kubernetes manifests, compose services, targets, dashboards."""

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml

from tools.deploying import compose, dashboards, watching
from tools.deploying.services import ROOT, SIMULATOR, on_the_bus
from tools.deploying.workloads import Object, provision, workload

K8S = ROOT / "deploy" / "k8s"
SERVICES, PARTS = K8S / "base" / "services", K8S / "components"
GREETING = "# Written by tools/manifests.py (`make manifests`); change it there.\n"


class _Plain(yaml.SafeDumper):
    """Writes every list and table out, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        """Repeat what occurs twice: a reader need not look elsewhere."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists under their name, as everywhere in this repository."""
        super().increase_indent(flow, indentless=False)


def text_of(objects: list[Object]) -> str:
    """Return objects as a file of documents."""
    dumped = [yaml.dump(each, Dumper=_Plain, sort_keys=False, width=1000) for each in objects]
    return GREETING + "---\n" + "---\n".join(dumped)


def kustomization(resources: list[str]) -> str:
    """Return the list of a folder of generated files."""
    kind = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    return text_of([{**kind, "resources": resources}])


def generated() -> dict[Path, str]:
    """Return every file that follows from the code as a whole."""
    made = {SERVICES / f"{name}.yaml": text_of(workload(name)) for name in on_the_bus()}
    made[SERVICES / "provision.yaml"] = text_of(provision())
    made[SERVICES / "kustomization.yaml"] = kustomization(sorted(path.name for path in made))
    made[PARTS / "simulator" / "simulator.yaml"] = text_of(workload(SIMULATOR))
    made[PARTS / "keda" / "scalers.yaml"] = text_of(watching.scalers())
    made[PARTS / "prometheus-operator" / "rules.yaml"] = text_of([watching.rule()])
    made[PARTS / "prometheus-operator" / "monitors.yaml"] = text_of([watching.monitor()])
    for name, text in dashboards.files().items():
        made[PARTS / "grafana" / name] = text
    return made


def amended() -> dict[Path, str]:
    """Return the files of which only parts follow from the code."""
    path, scraping = ROOT / "docker-compose.yml", ROOT / "deploy" / "prometheus" / "prometheus.yml"
    text = compose.between(path.read_text(), "services", compose.plain_services())
    text = compose.between(text, "secrets", compose.secret_files())
    targets = compose.between(scraping.read_text(), "targets", compose.targets())
    return {path: text, scraping: targets}


def main() -> int:
    """Write them, or say which are not as they would be written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if one differs")
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
