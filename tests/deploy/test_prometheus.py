"""Rules and dashboards ask for what services really emit; each alert is tested and explained."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from biaswatch.shared import telemetry
from biaswatch.shared.contracts import ROUTES
from tests.support.manifests import ROOT, clean

FOLDER = ROOT / "deploy" / "prometheus"
CHART_FILES = ROOT / "deploy" / "helm" / "biaswatch" / "files"
RULES = sorted((CHART_FILES / "rules").glob("*.yml"))
TESTS = sorted(FOLDER.glob("*.test.yml"))
DASHBOARDS = [CHART_FILES / "dashboards" / f"{name}.json" for name in ("bias", "platform")]
"""The others read SQL: tests/integration/store/test_sql_views.py."""
ENDINGS = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"], "gauge": [""]}
FROM_OUTSIDE = {"up": {"job", "service", "instance"}, "process_resident_memory_bytes": {"job"}}
"""Metrics of Prometheus itself and of the client library."""
SELECTOR = re.compile(r"\b(up|process_[a-z_]+|biaswatch_[a-z_]+)(?:\{([^}]*)\})?")


def rules() -> Iterator[dict[str, object]]:
    for path in RULES:
        for group in yaml.safe_load(path.read_text())["groups"]:
            yield from group["rules"]


def expressions() -> dict[str, str]:
    result = {f"alert {rule['alert']}": str(rule["expr"]) for rule in rules()}
    for path in DASHBOARDS:
        board = json.loads(path.read_text())
        for annotation in board.get("annotations", {}).get("list", []):
            result[f"{path.stem}: {annotation['name']}"] = annotation["expr"]
        for panel in board["panels"]:
            for target in panel["targets"]:
                result[f"{path.stem}: {panel['title']} {target['refId']}"] = target["expr"]
    return result


def emitted() -> dict[str, set[str]]:
    """Return the labels of every metric by its name."""
    metrics = dict(FROM_OUTSIDE)
    for metric in vars(telemetry).values():
        if hasattr(metric, "_labelnames"):
            [described] = metric.describe()
            for ending in ENDINGS[described.type]:
                metrics[described.name + ending] = set(metric._labelnames) | {"le"}
    return metrics


@pytest.mark.parametrize(("where", "expression"), expressions().items())
def test_an_expression_reads_metrics_and_labels_that_are_emitted(
    where: str, expression: str
) -> None:
    known = emitted()
    selectors = SELECTOR.findall(expression)
    assert selectors, where
    for name, selection in selectors:
        assert name in known, f"{where} asks for {name}"
        labels = set(re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)", selection))
        assert labels <= known[name] | {"service", "job", "instance"}, f"{where}: {labels}"


def test_label_values_in_expressions_exist() -> None:
    stages = {route.durable(reader) for route in ROUTES for reader in route.consumers}
    records = {route.record.kind for route in ROUTES}
    known = {"stage": stages, "record": records}
    for where, expression in expressions().items():
        for label, value in re.findall(r'(stage|record)="([^"]+)"', expression):
            assert value in known[label], where


def test_promtool_accepts_settings_and_rules() -> None:
    clean("promtool", "check", "config", "prometheus.yml", cwd=FOLDER)
    clean("promtool", "check", "rules", *map(str, RULES))


def test_promtool_accepts_the_expressions_of_the_dashboards(tmp_path: Path) -> None:
    spans = {"$__rate_interval": "5m", "$__range": "1h"}
    rules = []
    for number, expression in enumerate(expressions().values()):
        for name, span in spans.items():
            expression = expression.replace(name, span)
        rules.append({"record": f"dashboard:{number}", "expr": expression})
    path = tmp_path / "rules.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboards", "rules": rules}]}))
    clean("promtool", "check", "rules", str(path))


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_alerts_fire_for_their_cause_alone(path: Path) -> None:
    clean("promtool", "test", "rules", path.name, cwd=FOLDER)


@pytest.mark.parametrize("alert", sorted(str(rule["alert"]) for rule in rules()))
def test_an_alert_is_tested_and_has_its_paragraph(alert: str) -> None:
    assert any(f"alertname: {alert}\n" in path.read_text() for path in TESTS)
    assert f"### {alert}\n" in (ROOT / "docs" / "operations.md").read_text()
    [rule] = [rule for rule in rules() if rule["alert"] == alert]
    assert rule["annotations"]["runbook"] == f"docs/operations.md#{alert.lower()}"  # type: ignore[index]
