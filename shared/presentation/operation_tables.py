"""The tables of the platform's own pages: extractors, sources of traffic, the audit trail."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from biaswatch.shared.contracts import (
    AnswerAccounts,
    AuditEntry,
    ExtractorStatus,
    OwnGap,
    UnwatchedSource,
)
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.names import act_words, is_about_a_run
from biaswatch.shared.presentation.tables import (
    PageCell,
    PageColumn,
    PageTable,
    number_cell,
    words_cell,
)
from biaswatch.shared.requests.evidence import WindowView


@dataclass(frozen=True)
class TrafficSource:
    """A live system that a monitor watches, and what came of its answers."""

    monitor: str
    source: str
    state: str
    accounts: AnswerAccounts
    windows: Sequence[WindowView]
    """The last ones, the latest first."""


def extractors_table(statuses: Iterable[ExtractorStatus]) -> PageTable:
    """Return every extractor and version that was ever heard of, and how it does."""
    names = ("extractor", "version", "kind", "measures", "with")
    columns = (
        *(PageColumn(title, name=title in {"extractor", "measures"}) for title in names),
        *(PageColumn(title, numeric=True) for title in ("waiting", "texts a second")),
        PageColumn("last heard of"),
        PageColumn("trouble"),
    )
    rows = []
    for each in statuses:
        trouble = each.refused or each.last_error
        rows.append(
            (
                words_cell(each.name),
                words_cell(each.version),
                words_cell(each.kind),
                words_cell(", ".join(name.replace("_", " ") for name in each.features)),
                words_cell(each.instrument),
                number_cell(each.lag),
                number_cell(each.rate_per_s),
                words_cell(f"{each.seen_at:%Y-%m-%d %H:%M}"),
                words_cell(trouble or "", chip="raised" if each.refused else None),
            )
        )
    return PageTable("Extractors", columns, tuple(rows))


def own_bias_table(found: Iterable[tuple[ExtractorStatus, OwnGap]]) -> PageTable:
    """Return what extractors make of a group's name alone."""
    columns = (
        *(PageColumn(title, name=True) for title in ("extractor", "number", "groups")),
        *(PageColumn(title, numeric=True) for title in ("own gap", "from", "to")),
    )
    rows = [
        (
            words_cell(f"{status.name} {status.version}"),
            words_cell(own.feature.replace("_", " ")),
            words_cell(f"{own.a} less {own.b}, by {own.dimension.replace('_', ' ')}"),
            *(number_cell(end) for end in (own.gap.value, own.gap.low, own.gap.high)),
        )
        for status, own in found
    ]
    return PageTable("Own bias of extractors", columns, tuple(rows))


def traffic_table(sources: Iterable[TrafficSource]) -> PageTable:
    """Return the sources of traffic: how much comes, and what becomes of it."""
    titles = ("sent", "an hour", "late", "unmeasured", "group known", "refused")
    columns = (
        PageColumn("source", name=True),
        PageColumn("monitor", name=True),
        PageColumn("state"),
        *(PageColumn(title, numeric=True) for title in titles),
        PageColumn("last window"),
    )
    rows = []
    for each in sources:
        counts, last = each.accounts, next(iter(each.windows), None)
        taken = counts.evidence + counts.described + counts.without_group
        rows.append(
            (
                words_cell(each.source.partition(":")[2] or each.source),
                words_cell(each.monitor, href=f"/monitors/{quote(each.monitor)}"),
                words_cell(each.state, chip="calm"),
                number_cell(counts.sent),
                number_cell(_an_hour(each.windows)),
                _share(counts.late, counts.sent),
                _share(counts.unmeasured, counts.sent),
                _share(counts.evidence + counts.described, taken),
                _share(counts.refused, counts.sent),
                words_cell(f"{last.window.begins:%Y-%m-%d %H:%M}" if last else "none yet"),
            )
        )
    return PageTable("Sources of traffic", columns, tuple(rows))


def unwatched_table(sources: Iterable[UnwatchedSource]) -> PageTable:
    """Return the sources that nobody watches, those with the most answers first."""
    columns = (
        PageColumn("source", name=True),
        PageColumn("answers", numeric=True),
        PageColumn("first"),
        PageColumn("last"),
    )
    rows = [
        (
            words_cell(each.source),
            number_cell(each.answers),
            words_cell(f"{each.first_at:%Y-%m-%d %H:%M}"),
            words_cell(f"{each.last_at:%Y-%m-%d %H:%M}"),
        )
        for each in sorted(sources, key=lambda each: (-each.answers, each.source))
    ]
    return PageTable("Sources that nobody watches", columns, tuple(rows))


def audit_table(entries: Iterable[AuditEntry], called: Mapping[str, str]) -> PageTable:
    """Return entries of the audit trail; `called` names what they know by its id alone."""
    names = ("moment", "who", "role", "from", "did", "of what", "more", "failed")
    columns = (
        PageColumn("number", numeric=True),
        *(PageColumn(title, name=title in {"of what", "more"}) for title in names),
    )
    rows = [
        (
            number_cell(each.number),
            words_cell(_moment(each.at)),
            words_cell(each.actor),
            words_cell(each.role),
            words_cell(each.source),
            words_cell(each.action.value),
            words_cell(about.name or about.id, href=_about(each), note=about.name and about.id),
            words_cell(about.more),
            words_cell(each.failure or "", chip="raised" if each.failure else None),
        )
        for each in entries
        for about in (act_words(each, called),)
    ]
    return PageTable("Who did what", columns, tuple(rows))


def _about(entry: AuditEntry) -> str | None:
    """Return the page of what an entry is about, if it has one."""
    if is_about_a_run(entry):
        return f"/runs/{quote(entry.subject)}"
    if entry.action.value.startswith("monitor."):
        return f"/monitors/{quote(entry.subject)}"
    return None


def _an_hour(windows: Sequence[WindowView]) -> float | None:
    """Return how many answers came in an hour, over the windows that are not open any more."""
    closed = [each for each in windows if each.sent is not None and each.state != "open"]
    hours = sum((each.window.ends - each.window.begins).total_seconds() for each in closed) / 3600
    return sum(each.sent or 0 for each in closed) / hours if hours else None


def _share(count: int, of: int) -> PageCell:
    if not of:
        return PageCell("-", None)
    return PageCell(f"{number(100 * count / of)} %", count / of)


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
