"""The documents say what the code does."""

import re
from pathlib import Path

from prometheus_client.metrics import MetricWrapperBase

from biaswatch.shared import telemetry
from biaswatch.shared.bus.topology import StreamLimits, streams
from biaswatch.shared.contracts import ROUTES
from biaswatch.shared.runtime.settings import Settings

DOCS = Path(__file__).parents[2] / "docs"
ARCHITECTURE = (DOCS / "architecture.md").read_text()


def rows(first_cell: str) -> list[list[str]]:
    """Return the cells of the table rows whose first cell is like this."""
    lines = [line for line in ARCHITECTURE.splitlines() if re.match(rf"\| `{first_cell}", line)]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_of_streams_is_the_address_book() -> None:
    written = {row[0]: row[1:] for row in rows("[A-Z]+(_[A-Z]+)?` \\|") if len(row) == 5}
    assert set(written) == {stream.name for stream in streams(StreamLimits())}
    for route in ROUTES:
        record, _, producers, consumers = written[route.stream]
        assert record == route.record.kind
        assert producers.split(", ") == list(route.producers)
        if not route.consumers:
            assert consumers == "the operator"
            continue
        assert consumers.split(", ")[: len(route.consumers) - 1] == list(route.consumers)[:-1]
        assert consumers.split(", ")[len(route.consumers) - 1].startswith(route.consumers[-1])


def test_every_metric_is_documented() -> None:
    metrics = [
        metric for metric in vars(telemetry).values() if isinstance(metric, MetricWrapperBase)
    ]
    names = {family.name for metric in metrics for family in metric.describe()}
    page = (DOCS / "reference" / "metrics.md").read_text()
    documented = re.findall(r"^\| `(biaswatch_\w+?)(?:_total)?` \|", page, re.MULTILINE)
    assert names == set(documented), "run `make contracts`"


def test_every_setting_of_every_service_is_documented() -> None:
    page = (DOCS / "reference" / "settings.md").read_text()
    for name in Settings.model_fields:
        assert f"`BIASWATCH_{name.upper()}`" in page, "run `make contracts`"
