"""The Grafana dashboards, one for the platform and one for bias, as the tables below say."""

import json
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT, PER_ROW = 8, 7, 3


@dataclass(frozen=True)
class Panel:
    """One picture: a question and the expressions that answer it."""

    title: str
    about: str
    expressions: tuple[tuple[str, str], ...]
    """What to ask Prometheus, and how to name each line."""
    unit: str = "short"
    kind: str = "timeseries"


RATE = "[$__rate_interval]"
RECORDS, CALLS = "biaswatch_stage_records_total", "biaswatch_calls_total"
HANDLE, CALL = "biaswatch_stage_handle_seconds_bucket", "biaswatch_call_seconds_bucket"

SOURCE = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Source"}

PLATFORM = (
    Panel(
        "Takes work",
        "1 where at least one replica is ready.",
        (("max by (service) (biaswatch_ready)", "{{service}}"),),
    ),
    Panel(
        "Replicas",
        "How many answer Prometheus.",
        (('count by (service) (up{job=~".*biaswatch.*"} == 1)', "{{service}}"),),
    ),
    Panel(
        "Waiting on the bus",
        "Records nobody has in hand yet.",
        (("max by (stage) (biaswatch_stage_lag_records)", "{{stage}}"),),
    ),
    Panel(
        "Settled well",
        "Records a second.",
        ((f'sum by (stage) (rate({RECORDS}{{outcome="accepted"}}{RATE}))', "{{stage}}"),),
        "ops",
    ),
    Panel(
        "Put off and given up",
        "Retries a second, and dead letters in the last hour.",
        (
            (f'sum by (stage) (rate({RECORDS}{{outcome="retried"}}{RATE}))', "{{stage}} put off"),
            (
                f'sum by (stage) (increase({RECORDS}{{outcome="dead_letter"}}[1h]))',
                "{{stage}} given up",
            ),
        ),
    ),
    Panel(
        "Time to settle",
        "95 of 100 lots are settled within.",
        ((f"histogram_quantile(0.95, sum by (stage, le) (rate({HANDLE}{RATE})))", "{{stage}}"),),
        "s",
    ),
    Panel(
        "Since the last success",
        "Grows while a stage is idle, too; read it beside what waits.",
        (
            (
                "time() - max by (stage) (biaswatch_stage_last_success_timestamp_seconds > 0)",
                "{{stage}}",
            ),
        ),
        "s",
    ),
    Panel(
        "Published",
        "Records a second the bus has taken.",
        ((f"sum by (record) (rate(biaswatch_published_records_total{RATE}))", "{{record}}"),),
        "ops",
    ),
    Panel(
        "Memory",
        "Of each process.",
        (('process_resident_memory_bytes{job=~".*biaswatch.*"}', "{{service}} {{instance}}"),),
        "bytes",
    ),
)

BIAS = (
    Panel(
        "Comparisons concluded",
        "In the time shown: disparity, none larger than the tolerance, not enough evidence.",
        (("sum by (verdict) (increase(biaswatch_comparisons_total[$__range]))", "{{verdict}}"),),
        kind="bargauge",
    ),
    Panel(
        "Disparities found",
        "Comparisons an hour that ended so. Which groups: see the run's report.",
        (('sum(increase(biaswatch_comparisons_total{verdict="disparity"}[1h]))', "disparities"),),
    ),
    Panel(
        "Texts measured",
        "Features a second; what could not be scored is among them, with its reason.",
        ((f'sum(rate(biaswatch_published_records_total{{record="features"}}{RATE}))', "features"),),
        "ops",
    ),
    Panel(
        "Calls to models, by outcome",
        "A model that refuses or fails answers for fewer of its groups.",
        ((f"sum by (target, outcome) (rate({CALLS}{RATE}))", "{{target}} {{outcome}}"),),
        "ops",
    ),
    Panel(
        "Time of a call",
        "95 of 100 tries end within.",
        ((f"histogram_quantile(0.95, sum by (target, le) (rate({CALL}{RATE})))", "{{target}}"),),
        "s",
    ),
    Panel(
        "Calls allowed at once",
        "Shrinks when a provider says that it is too much.",
        (("sum by (target) (biaswatch_calls_allowed)", "{{target}}"),),
    ),
    Panel(
        "Tokens",
        "A second, read and written.",
        (
            (
                f"sum by (target, direction) (rate(biaswatch_call_tokens_total{RATE}))",
                "{{target}} {{direction}}",
            ),
        ),
    ),
    Panel(
        "Money",
        "In the time shown, by the operator's price table.",
        (("sum by (target) (increase(biaswatch_call_cost_total[$__range]))", "{{target}}"),),
        kind="bargauge",
    ),
    Panel(
        "Answers not paid again",
        "Calls whose answer was kept.",
        (("sum by (target) (increase(biaswatch_calls_kept_total[1h]))", "{{target}}"),),
    ),
)


def dashboard(uid: str, title: str, panels: tuple[Panel, ...]) -> str:
    """Return one dashboard as Grafana reads it."""
    asked = {
        "uid": uid,
        "title": title,
        "tags": ["biaswatch"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [SOURCE]},
        "panels": [_panel(number, panel) for number, panel in enumerate(panels)],
    }  # fmt: skip
    return json.dumps(asked, indent=2) + "\n"


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    row, column = divmod(number, PER_ROW)
    place = {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT}
    return {
        "id": number + 1,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "gridPos": place,
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + index), "expr": expression, "legendFormat": legend}
            for index, (expression, legend) in enumerate(panel.expressions)
        ],
    }


def files() -> dict[str, str]:
    """Return both dashboards by file name."""
    return {
        "platform.json": dashboard("biaswatch-platform", "biaswatch: the platform", PLATFORM),
        "bias.json": dashboard("biaswatch-bias", "biaswatch: bias and models", BIAS),
    }
