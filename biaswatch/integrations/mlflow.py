"""Export a run or a monitor as a run of an MLflow tracking server."""

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from biaswatch.integrations.amounts import Amounts, amounts_of
from biaswatch.integrations.formats import ExportRequest
from biaswatch.integrations.mlflow_server import LoggedRun, Metric, mlflow_server
from biaswatch.integrations.sources import ReportedRun, WatchedMonitor, source_named
from biaswatch.render.figures import can_draw, draw
from biaswatch.render.markdown import escape_md
from biaswatch.render.report import ReportFormat, report_text
from biaswatch.shared.presentation.conclusions import conclusions
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.requests.run_views import RunState

NOTE = "mlflow.note.content"
"""The tag that MLflow shows as a run's description."""
MAX_NOTE, MAX_KEY = 4_000, 240
STATUS = {
    RunState.COMPLETE: "FINISHED",
    RunState.INCOMPLETE: "FAILED",
    RunState.CANCELLED: "KILLED",
}
"""MLflow's status of a run that has ended."""
REPORTS = (ReportFormat.MD, ReportFormat.HTML, ReportFormat.JSON, ReportFormat.CSV)
_NOT_IN_KEYS = re.compile(r"[^/\w.\- :]")


async def export(request: ExportRequest) -> str:
    """Log findings, reports and figures; the same source again updates its run."""
    async with mlflow_server(request.destination) as server, request.connect() as client:
        source = await source_named(client, request.source)
        if isinstance(source, WatchedMonitor):
            identity = {"biaswatch.monitor": source.view.status.monitor_id}
            run = monitor_as_run(source)
        else:
            identity = {"biaswatch.run": source.results.run.run_id}
            run = run_as_run(source)
        page = await server.log(identity, run)
    return f"Logged {len(run.metrics):,} numbers and {len(run.artifacts)} files: {page}"


def run_as_run(reported: ReportedRun) -> LoggedRun:
    """Return a run of biaswatch as a run of MLflow; an undefined number is not logged."""
    results = reported.results
    run = results.run
    metrics = [metric for key, value in amounts_of(results) for metric in _metrics(
        key, value, run.at, run.opening
    )]  # fmt: skip
    declared = results.diagnoses[0] if results.diagnoses else None
    params = {"suite": run.suite, "targets": ", ".join(run.targets)}
    if declared is not None:
        params |= {"alpha": f"{declared.alpha:g}", "tolerance": f"{declared.tolerance:g}"}
    sentences = [*conclusions(results.diagnoses), *results.warnings, results.incomplete or ""]
    return LoggedRun(
        name=run.suite,
        status=STATUS.get(run.state, "RUNNING"),
        start_time=_ms(run.at),
        params={key: value[:MAX_NOTE] for key, value in params.items()},
        tags={NOTE: _note(sentences), "biaswatch.state": run.state.value},
        metrics=metrics,
        artifacts=dict(report_files(reported)),
    )


def monitor_as_run(monitor: WatchedMonitor) -> LoggedRun:
    """Return a monitor as one run of MLflow, whose steps are its rounds."""
    view, status = monitor.view, monitor.view.status
    titles = {row.comparison: f"{row.number}/{row.title}" for row in view.evidence}
    metrics = [
        metric
        for history in monitor.histories
        for point in history.moments
        for metric in _metrics(
            titles.get(history.comparison, history.comparison),
            {
                "gap": point.gap.value, "ci_low": point.gap.low, "ci_high": point.gap.high,
                "log_evidence": point.log_e, "bound": point.bound,
            },
            point.at,
            point.round,
        )
    ]  # fmt: skip
    counts = ", ".join(f"{n} {words(verdict)}" for verdict, n in sorted(status.verdicts.items()))
    lead = f"Rounds: {status.rounds}. Alarms: {status.alarms}. Comparisons: {counts or 'none yet'}."
    alarms = [f"{alarm.state}, round {alarm.round}: {alarm.words}" for alarm in view.alarms]
    return LoggedRun(
        name=status.name,
        status="RUNNING" if status.state == "active" else "FINISHED",
        start_time=_ms(status.since),
        params={"target": status.target, "alpha": f"{status.alpha:g}", "claim": status.claim.value},
        tags={NOTE: _note([lead, *alarms]), "biaswatch.state": status.state},
        metrics=metrics,
        artifacts={"monitor.json": view.model_dump_json(indent=2).encode()},
    )


def _metrics(name: str, amounts: Amounts, at: datetime, step: int) -> Iterator[Metric]:
    for amount, value in amounts.items():
        if value is not None:
            yield Metric(metric_key(f"{name}/{amount}" if name else amount), value, _ms(at), step)


def metric_key(name: str) -> str:
    """Return a name that MLflow accepts; a digest keeps different names distinct."""
    parts = [part for part in _NOT_IN_KEYS.sub("_", name).split("/") if part not in {"", ".", ".."}]
    key = "/".join(parts)[:MAX_KEY]
    return key if key == name else f"{key} {sha256(name.encode()).hexdigest()[:8]}"


def _note(sentences: list[str]) -> str:
    """Return sentences as a list in Markdown; names and texts are escaped."""
    lines = "\n".join(f"- {escape_md(sentence)}" for sentence in sentences if sentence)
    return lines[:MAX_NOTE]


def report_files(reported: ReportedRun) -> Iterator[tuple[str, bytes]]:
    """Yield the reports, and the figures if matplotlib is installed."""
    for form in REPORTS:
        text = report_text(form, reported.results, reported.flagged)
        yield f"report.{form.value}", text.encode()
    if can_draw():
        with TemporaryDirectory() as folder:
            for path in draw(reported.results, Path(folder)):
                yield f"figures/{path.name}", path.read_bytes()


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
