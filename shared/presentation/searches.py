"""Searches in words and tables: findings, coverage and spending."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biaswatch.shared.contracts.search import SearchRound, SetPurpose, Space
from biaswatch.shared.formatting import counted, number
from biaswatch.shared.presentation.tables import (
    Table,
    estimate_cell,
    estimates,
    names,
    number_cell,
    numbers,
    p_cell,
    text_cell,
    texts,
)
from biaswatch.shared.requests.search_views import SearchProgress, SearchStatus
from biaswatch.shared.requests.searches import Confirmed, RegionCoverage, SearchResults

CONFIRMED = {
    Confirmed.YES: "confirmed by fresh twins",
    Confirmed.NO: "not confirmed by fresh twins",
    Confirmed.NOT_ASKED: "not confirmed yet",
}


def findings_table(results: SearchResults) -> Table:
    """Return the findings, strongest first."""
    columns = (
        *names("region"),
        *texts("group", "against"),
        *estimates("gap"),
        *texts("confirmation"),
        *numbers("p", "sets", "found at call"),
    )
    rows = tuple(
        (
            text_cell(finding.title),
            text_cell(finding.group),
            text_cell(finding.other),
            estimate_cell(finding.effect),
            text_cell(CONFIRMED[finding.confirmed]),
            p_cell(finding.p_value),
            number_cell(finding.sets),
            number_cell(finding.calls),
        )
        for finding in results.findings
    )
    return Table("Findings", columns, rows)


def coverage_table(regions: list[RegionCoverage], title: str) -> Table:
    """Return the sets by region, with the smallest detectable gaps."""
    columns = (*names(title), *numbers("sets", "incomplete sets", "smallest findable gap"))
    rows = tuple(
        (
            text_cell(region.name),
            number_cell(region.sets),
            number_cell(region.missing),
            number_cell(region.smallest_gap.value),
        )
        for region in regions
    )
    return Table(f"Sets by {title}", columns, rows)


def proposals_table(results: SearchResults) -> Table:
    """Return the scenarios proposed by a model."""
    columns = (*names("scenario"), *texts("question"), *numbers("round", "sets"))
    rows = tuple(
        (
            text_cell(scenario.name),
            text_cell(scenario.prompt),
            number_cell(scenario.round),
            number_cell(scenario.sets),
        )
        for scenario in results.proposed
    )
    return Table("Proposed scenarios", columns, rows)


@dataclass(frozen=True)
class CoverageMap:
    """Evidence sets by area and context."""

    contexts: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    """Each area, with its sets by context."""

    def shade(self, sets: int) -> int:
        """Return the shade of a cell: 0 without sets, 4 for the most."""
        most = max(count for _, counts in self.rows for count in counts)
        return (4 * sets + most - 1) // most if most else 0


def coverage_map(space: Space, rounds: Sequence[SearchRound]) -> CoverageMap:
    """Return the complete evidence sets of some rounds by area and context."""
    topics = space.topics | {name: topic for r in rounds for name, topic in r.proposed.items()}
    area_of = {name: topic.area for name, topic in topics.items()}
    counts = Counter(
        (area_of[set_.topic], set_.context)
        for round_ in rounds
        for set_ in round_.sets
        if set_.purpose is SetPurpose.EVIDENCE and None not in set_.values
    )
    areas = dict.fromkeys(area_of.values())
    contexts = tuple(space.contexts)
    rows = ((area, tuple(counts[area, context] for context in contexts)) for area in areas)
    return CoverageMap(contexts, tuple(rows))


def searches_table(searches: Sequence[SearchProgress]) -> Table:
    """Return searches, in their order."""
    columns = (*names("search"), *texts("target", "status"), *numbers("calls", "budget"))
    rows = tuple(
        (
            text_cell(search.space, href=f"/searches/{search.search_id}"),
            text_cell(search.target),
            text_cell(search.status.value),
            number_cell(search.calls),
            number_cell(search.budget),
        )
        for search in searches
    )
    return Table("Searches", columns, rows)


def search_remarks(progress: SearchProgress, results: SearchResults) -> Iterator[str]:
    """Yield the sentences below the headline: limits, missing answers, spending, the end."""
    if results.about_names:
        yield (
            "The space has fewer than 100 names in a group, so the findings are about these names"
            " alone."
        )
    if gap := results.coverage.everywhere.smallest_gap.value:
        yield (
            f"A gap of {number(gap)} in all topics and contexts would have been found in 4 of 5"
            " searches. Narrower regions need larger gaps: see what was looked at."
        )
    for region in results.leading:
        needed = 1 / (results.alpha * region.share_of_alpha)
        yield (
            f"Leading, not found yet: {region.title} (evidence {number(region.e_value)} of"
            f" {number(needed)})."
        )
    if results.spent.requests:
        yield (
            f"{counted(results.spent.requests, 'request')} to a model proposed scenarios:"
            f" {len(results.proposed):,} were accepted, {results.refused:,} refused."
        )
    if progress.missing:
        yield f"{progress.missing:,} of {results.spent.calls:,} answers could not be measured."
    if repeated := results.spent.repeated_sets:
        yield (
            f"{repeated:,} of {counted(results.spent.sets, 'set')} repeated a question about a"
            " person and are not evidence: the space needs more persons, wordings or topics."
        )
    yield spent_sentence(results)
    yield progress_sentence(progress)


def spent_sentence(results: SearchResults) -> str:
    """Return the spending in a sentence."""
    spent = results.spent
    return (
        f"{spent.calls:,} of {counted(spent.budget, 'call')} in {counted(spent.rounds, 'round')}:"
        f" {counted(spent.sets, 'set')} of twins, {spent.placebo_sets:,} of them placebo twins and"
        f" {spent.confirmation_sets:,} to confirm findings."
    )


def progress_sentence(progress: SearchProgress) -> str:
    """Return the state of a search, in a sentence."""
    why = f": {progress.why}" if progress.why else "."
    words = {
        SearchStatus.RUNNING: "The search is running",
        SearchStatus.WAITING: "The search is waiting",
        SearchStatus.ENDED: "The search has ended",
        SearchStatus.STOPPED: "The search was stopped",
    }
    return words[progress.status] + why


def progress_line(progress: SearchProgress) -> str:
    """Return a search in one line."""
    calls = f"{progress.calls:,}/{progress.budget:,} calls"
    about = f"{progress.space} on {progress.target}"
    return f"{progress.search_id}  {progress.status}  {calls}  {about}"
