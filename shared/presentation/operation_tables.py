"""Tables of the platform's own pages: extractors, sources of traffic, the audit trail."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from biaswatch.shared.contracts import (
    AnswerAccounts,
    AuditEntry,
    ExtractorStatus,
    OwnGap,
    UnwatchedSource,
)
from biaswatch.shared.formatting import UNDEFINED, number
from biaswatch.shared.presentation.names import audit_object, is_about_a_run
from biaswatch.shared.presentation.tables import (
    Table,
    TableCell,
    estimate_cell,
    estimates,
    names,
    number_cell,
    numbers,
    text_cell,
    texts,
    words,
)
from biaswatch.shared.requests.evidence import WindowView

HOUR_S = 3600


@dataclass(frozen=True)
class TrafficSource:
    """A live system under a monitor, and the fate of its answers."""

    monitor: str
    source: str
    state: str
    accounts: AnswerAccounts
    windows: Sequence[WindowView]
    """The last windows, the latest first."""


def extractors_table(statuses: Iterable[ExtractorStatus]) -> Table:
    """Return every known extractor and version with its state."""
    columns = (
        *names("extractor"),
        *texts("version", "kind"),
        *names("measures"),
        *texts("with"),
        *numbers("waiting", "texts a second"),
        *texts("last seen", "trouble"),
    )
    rows = [
        (
            text_cell(row.name),
            text_cell(row.version),
            text_cell(row.kind),
            text_cell(", ".join(map(words, row.features))),
            text_cell(row.instrument),
            number_cell(row.lag),
            number_cell(row.rate_per_s),
            text_cell(f"{row.seen_at:%Y-%m-%d %H:%M}"),
            text_cell(row.refused or row.last_error or "", chip="raised" if row.refused else None),
        )
        for row in statuses
    ]
    return Table("Extractors", columns, tuple(rows))


def own_bias_table(gaps: Iterable[tuple[ExtractorStatus, OwnGap]]) -> Table:
    """Return extractors' own gaps, on sentences with exchanged names."""
    columns = (*names("extractor", "number", "groups"), *estimates("own gap"))
    rows = [
        (
            text_cell(f"{status.name} {status.version}"),
            text_cell(words(own.feature)),
            text_cell(f"{own.a} minus {own.b}, by {words(own.dimension)}"),
            estimate_cell(own.gap),
        )
        for status, own in gaps
    ]
    return Table("Own bias of extractors", columns, tuple(rows))


def traffic_table(sources: Iterable[TrafficSource]) -> Table:
    """Return the sources of traffic: amount, and fate of the answers."""
    columns = (
        *names("source", "monitor"),
        *texts("state"),
        *numbers("sent", "an hour", "late", "unmeasured", "group known", "rejected"),
        *texts("last window"),
    )
    rows = []
    for row in sources:
        counts, last = row.accounts, next(iter(row.windows), None)
        measured = counts.evidence + counts.described
        rows.append(
            (
                text_cell(row.source.partition(":")[2] or row.source),
                text_cell(row.monitor, href=f"/monitors/{quote(row.monitor)}"),
                text_cell(row.state, chip="calm"),
                number_cell(counts.sent),
                number_cell(_answers_per_hour(row.windows)),
                _share(counts.late, counts.sent),
                _share(counts.unmeasured, counts.sent),
                _share(measured, measured + counts.without_group),
                _share(counts.refused, counts.sent),
                text_cell(f"{last.window.begins:%Y-%m-%d %H:%M}" if last else "none yet"),
            )
        )
    return Table("Sources of traffic", columns, tuple(rows))


def unwatched_table(sources: Iterable[UnwatchedSource]) -> Table:
    """Return the sources without a monitor, those with the most answers first."""
    columns = (*names("source"), *numbers("answers"), *texts("first", "last"))
    rows = [
        (
            text_cell(row.source),
            number_cell(row.answers),
            text_cell(f"{row.first_at:%Y-%m-%d %H:%M}"),
            text_cell(f"{row.last_at:%Y-%m-%d %H:%M}"),
        )
        for row in sorted(sources, key=lambda row: (-row.answers, row.source))
    ]
    return Table("Sources without a monitor", columns, tuple(rows))


def audit_table(entries: Iterable[AuditEntry], known_names: Mapping[str, str]) -> Table:
    """Return entries of the audit trail; `known_names` maps ids to names of the store."""
    columns = (
        *numbers("number"),
        *texts("moment", "who", "role", "from", "did"),
        *names("of what", "more"),
        *texts("failed"),
    )
    rows = []
    for entry in entries:
        act = audit_object(entry, known_names)
        rows.append(
            (
                number_cell(entry.number),
                text_cell(f"{entry.at:%Y-%m-%d %H:%M:%S}"),
                text_cell(entry.actor),
                text_cell(entry.role),
                text_cell(entry.source),
                text_cell(entry.action.value),
                text_cell(act.name or act.id, href=_page_of(entry), note=act.name and act.id),
                text_cell(act.more),
                text_cell(entry.failure or "", chip="raised" if entry.failure else None),
            )
        )
    return Table("Audit trail", columns, tuple(rows))


def _page_of(entry: AuditEntry) -> str | None:
    """Return the page of an entry's subject, if it has one."""
    if is_about_a_run(entry):
        return f"/runs/{quote(entry.subject)}"
    if entry.action.value.startswith("monitor."):
        return f"/monitors/{quote(entry.subject)}"
    return None


def _answers_per_hour(windows: Sequence[WindowView]) -> float | None:
    """Return the rate of answers over the closed windows."""
    closed = [row for row in windows if row.sent is not None and row.state != "open"]
    length_s = sum((row.window.ends - row.window.begins).total_seconds() for row in closed)
    return sum(row.sent or 0 for row in closed) / (length_s / HOUR_S) if length_s else None


def _share(count: int, of: int) -> TableCell:
    return TableCell(f"{number(100 * count / of)} %", count / of) if of else TableCell(UNDEFINED)
