"""Searches on a terminal: headline, findings, coverage, spending."""

from rich.console import Console

from biaswatch.render.terminal import print_bullets, print_sentence, print_table, rich_table
from biaswatch.shared.presentation.searches import (
    coverage_table,
    findings_table,
    proposals_table,
    search_remarks,
)
from biaswatch.shared.requests.search_views import SearchView
from biaswatch.shared.requests.searches import RegionCoverage, SearchResults

MAX_TOPICS = 10
"""Topics of the coverage, the most often asked, unless all are requested."""


def print_search(view: SearchView, *, everything: bool = False) -> None:
    """Print a search: the headline first."""
    console, results = Console(emoji=False), view.results
    print_sentence(console, results.headline)
    if results.findings:
        print_table(console, rich_table(findings_table(results)))
    print_bullets(console, search_remarks(view.progress, results))
    if results.proposed:
        print_table(console, rich_table(proposals_table(results)))
    _print_coverage(console, results, everything=everything)


def _print_coverage(console: Console, results: SearchResults, *, everything: bool) -> None:
    coverage = results.coverage
    topics = sorted(coverage.topics, key=lambda topic: -topic.sets)
    able = [topic for topic in topics if _can_find(topic)]
    shown = topics if everything else able[:MAX_TOPICS]
    for title, regions in (
        ("area", [area for area in coverage.areas if everything or _can_find(area)]),
        ("context", [context for context in coverage.contexts if everything or _can_find(context)]),
        ("topic", shown),
    ):
        if regions:
            print_table(console, rich_table(coverage_table(regions, title)))
    if not everything and len(able) < len(topics):
        print_sentence(
            console,
            f"{len(topics) - len(able):,} of {len(topics):,} topics were asked too rarely to find"
            " a gap in one topic alone: --all.",
        )


def _can_find(region: RegionCoverage) -> bool:
    """Return whether a gap in this region could have been found."""
    return region.smallest_gap.value is not None
