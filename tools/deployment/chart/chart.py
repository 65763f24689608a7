"""All files of the chart; what has no twin among the other manifests is written here by hand."""

import json
from pathlib import Path

from tools.deployment.chart.manifests import read
from tools.deployment.chart.templates import chart_files, templates
from tools.deployment.chart.values import ChartValues, Nats, Postgres
from tools.deployment.chart.values_files import schema, values_text
from tools.deployment.services import ROOT

CHART = ROOT / "deploy" / "helm" / "biaswatch"
NOTE = "# Written by tools/manifests.py (`make manifests`); change it there.\n"


def defaults() -> ChartValues:
    """Return the values as they come with the chart."""
    return ChartValues(
        nats=Nats(resources=_resources("components/nats/nats.yaml")),
        postgres=Postgres(resources=_resources("components/postgres/postgres.yaml")),
    )


def _resources(part: str) -> dict[str, object]:
    [found] = [each for each in read(part) if each["kind"] == "StatefulSet"]
    [container] = found["spec"]["template"]["spec"]["containers"]
    resources: dict[str, object] = container["resources"]
    return resources


def files() -> dict[Path, str]:
    """Return the generated files of the chart by path."""
    made = {CHART / "templates" / name: _noted(text) for name, text in templates().items()}
    made |= {CHART / "files" / name: text for name, text in chart_files().items()}
    made[CHART / "values.yaml"] = NOTE + values_text(defaults())
    made[CHART / "values.schema.json"] = json.dumps(schema(), indent=2) + "\n"
    return made


def _noted(text: str) -> str:
    return NOTE + text if not text.startswith("{{- define") else text
