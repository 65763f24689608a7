"""Results of a search: findings, coverage and spending."""

from collections.abc import Iterator, Sequence

from biaswatch.shared.analysis.search.coverage import coverage_of, placebo_of
from biaswatch.shared.analysis.search.drawing import MIN_NAMES, is_about_names
from biaswatch.shared.analysis.search.findings import findings_of, leading_of
from biaswatch.shared.analysis.search.replay import SearchState
from biaswatch.shared.contracts.search import Search, SetPurpose
from biaswatch.shared.formatting import counted, number
from biaswatch.shared.requests.searches import (
    Confirmed,
    ProposedScenario,
    SearchCoverage,
    SearchFinding,
    SearchResults,
    SearchSpent,
)
from biaswatch.shared.stats.estimate import SummaryWord

SHOWN_FINDINGS = 3
"""Findings that the headline names."""


def results_of(state: SearchState, ended: str | None) -> SearchResults:
    """Return the findings of a search, its coverage and its spending.

    Parameters
    ----------
    ended
        Why the search ended; None while it goes on.
    """
    search = state.search
    findings, coverage, spent = findings_of(state), coverage_of(state), _spent(state)
    word = SummaryWord.INCONCLUSIVE if state.measured else SummaryWord.NOT_MEASURED
    return SearchResults(
        word=SummaryWord.DISPARITY if findings else word,
        headline=_headline(search, findings, coverage, word),
        ended=ended,
        alpha=search.alpha,
        about_names=is_about_names(search),
        findings=findings,
        leading=leading_of(state) if ended is None else [],
        coverage=coverage,
        proposed=list(_proposed(state)),
        refused=state.refused,
        placebo=placebo_of(state),
        spent=spent,
    )


def _headline(
    search: Search, findings: Sequence[SearchFinding], coverage: SearchCoverage, word: SummaryWord
) -> str:
    """Return the result in a sentence or two."""
    if word is SummaryWord.NOT_MEASURED:
        return "No set of twins has been measured."
    scope = ""
    if is_about_names(search):
        scope = f" This is about these names: a group has fewer than {MIN_NAMES} persons."
    if findings:
        regions = "one region" if len(findings) == 1 else f"{len(findings)} regions"
        shown = "; ".join(_finding_words(finding) for finding in findings[:SHOWN_FINDINGS])
        more = f"; and {len(findings) - SHOWN_FINDINGS} more" * (len(findings) > SHOWN_FINDINGS)
        return f"Twins are treated differently in {regions}: {shown}{more}.{scope}"
    gap = coverage.everywhere.smallest_gap
    complete = coverage.everywhere.sets - coverage.everywhere.missing
    sets = f"Nothing was found in {counted(complete, 'complete set')} of twins"
    if gap.value is None:
        return f"{sets}, too few to rule out any gap ({gap.reason}).{scope}"
    return (
        f"{sets}. A gap of {number(gap.value)} in all topics and contexts would have been found"
        f" with a probability of 0.8; smaller gaps, and gaps of single topics, may remain.{scope}"
    )


def _finding_words(finding: SearchFinding) -> str:
    effect = finding.effect
    if finding.confirmed is Confirmed.NOT_ASKED or effect.value is None:
        return f"{finding.title} (fresh twins have not confirmed it yet)"
    confirmed = "confirmed" if finding.confirmed is Confirmed.YES else "not confirmed"
    ends = "" if effect.low is None else f", {number(effect.low)} to {number(effect.high)}"
    return (
        f"{finding.title} ({confirmed} by {finding.confirmation_sets} fresh sets: a gap of"
        f" {number(effect.value)}{ends})"
    )


def _proposed(state: SearchState) -> Iterator[ProposedScenario]:
    """Yield the scenarios that a model proposed."""
    for name, round_ in state.proposed.items():
        [prompt], sets = state.space.topics[name].prompts, state.sets_by_cell[state.topics[name]]
        yield ProposedScenario(name=name, prompt=prompt, round=round_, sets=int(sets.sum()))


def _spent(state: SearchState) -> SearchSpent:
    """Return the calls, rounds and sets of a search."""
    sets = [drawn for sets in state.rounds for drawn in sets]
    return SearchSpent(
        calls=state.calls,
        budget=state.search.calls,
        rounds=len(state.rounds),
        sets=state.sets,
        placebo_sets=state.purposes[SetPurpose.PLACEBO],
        confirmation_sets=state.purposes[SetPurpose.CONFIRMATION],
        missing=sum(drawn.record.values.count(None) for drawn in sets),
        requests=state.requests,
        repeated_sets=sum(not drawn.new_prompts for drawn in sets),
    )
