"""Render deploy/k8s/base, deploy/k8s/cluster and the additive components from the Helm charts.

Runs in the environment of deploy/checks.txt, which has Helm as a library. A template in a folder of
the chart is rendered to the component of the same name; templates outside folders are the chart's
alone. deploy/RENDERED lists what this writes.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml
from helm_python import Chart

ROOT = Path(__file__).parents[1]
CHART, K8S = ROOT / "deploy" / "helm" / "biaswatch", ROOT / "deploy" / "k8s"
CLUSTER_CHART = CHART.with_name("biaswatch-cluster")
LIST = ROOT / "deploy" / "RENDERED"
NAME, NAMESPACE = "biaswatch", "$(NAMESPACE)"
"""Overlays set the namespace; kustomize writes it wherever else it is, as components/keda says."""
SETTINGS = "settings.yaml"
"""A ConfigMap that kustomize generates, with a hash in its name, from files written one by one."""
VALUES: dict[str, dict[str, Any]] = {
    "answer-files": {"answerFiles": {"uri": "s3://biaswatch-answers/live"}},
    "backup": {"backup": {"enabled": True}},
    "channels": {"channels": {"oncall": {}}},
    "grafana": {"monitoring": {"dashboards": True}},
    "keda": {"autoscaling": {"kind": "keda"}},
    "operator": {"operator": {"enabled": True}},
    "own-database": {"postgres": {"enabled": False}},
    "prometheus-operator": {"monitoring": {"podMonitor": True, "rules": True}},
    "sign-in": {"signIn": {"issuer": "https://id.example.com"}},
    "simulator": {"simulator": {"enabled": True}},
}
"""The values that enable a component, for those that are not enabled by default."""
REMOVED = (
    re.compile(rf"^ *namespace: {re.escape(NAMESPACE)}\n", re.MULTILINE),
    re.compile(r"^ *annotations:\n *checksum/\S+: \S+\n", re.MULTILINE),
    re.compile(r" +$", re.MULTILINE),
)
"""Kustomize hashes the names of settings; no blanks end a line."""


def component_files(chart: Chart, folder: Path) -> dict[Path, str]:
    """Return the files of the component, or base, that has this folder of templates."""
    rendered = chart.render(VALUES.get(folder.name, {}), name=NAME, namespace=NAMESPACE)
    target = K8S / folder.name if folder.name == "base" else K8S / "components" / folder.name
    files: dict[Path, str] = {}
    for path in sorted(folder.iterdir()):
        template = path.relative_to(CHART.parent)
        text = rendered[str(template)]
        if path.name == SETTINGS:
            files |= {target / name: data for name, data in yaml.safe_load(text)["data"].items()}
        else:
            files[target / path.name] = manifest(text, template)
    return files


def cluster_files() -> dict[Path, str]:
    """Return the files of what all releases in a cluster share."""
    with Chart.load(str(CLUSTER_CHART)) as chart:
        rendered = chart.render({}, name=NAME, namespace=NAMESPACE)
    return {
        K8S / "cluster" / Path(template).name: manifest(text, Path(template))
        for template, text in rendered.items()
    }


def manifest(text: str, template: Path) -> str:
    """Return a rendered template as a file of documents that an overlay can include."""
    for pattern in REMOVED:
        text = pattern.sub("", text)
    documents = (part.strip("\n") for part in re.split(r"^---\n", text, flags=re.MULTILINE))
    header = f"# Rendered from deploy/helm/{template} by `make manifests`.\n"
    return header + "".join(f"---\n{document}\n" for document in documents if document.strip())


def rendered_files() -> dict[Path, str]:
    """Return every file that this tool writes, with the list of them."""
    suite = yaml.safe_load((ROOT / "suites" / "hiring-demo.yaml").read_text())
    files = {
        CHART / "files" / "hiring-demo.json": json.dumps(suite),
        K8S / "examples" / "drop-in" / "extractor.py": (ROOT / "examples/exclaims.py").read_text(),
    }
    with Chart.load(str(CHART)) as chart:
        for folder in sorted((CHART / "templates").iterdir()):
            if folder.is_dir() and folder.name != "tests":
                files |= component_files(chart, folder)
    files |= cluster_files()
    names = sorted(str(path.relative_to(ROOT)) for path in files)
    return files | {LIST: "".join(f"{name}\n" for name in names)}


def main() -> int:
    """Write the files, or print which of them are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if one differs")
    check = parser.parse_args().check
    files = rendered_files()
    listed = [ROOT / name for name in LIST.read_text().split()] if LIST.exists() else []
    stale = [path for path in listed if path.exists() and path not in files]
    differing = [
        path for path, text in files.items() if not path.exists() or path.read_text() != text
    ]
    for path in [*differing, *stale]:
        print(path.relative_to(ROOT))
        if check:
            continue
        if path in stale:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path])
    return int(check and bool(differing or stale))


if __name__ == "__main__":
    sys.exit(main())
