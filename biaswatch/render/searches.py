"""Searches on a terminal: headline, findings, coverage, spending."""

from rich.console import Console

from biaswatch.render.terminal import print_bullets, print_sentence, print_table, rich_table
from biaswatch.shared.presentation.searches import coverage_table, findings_table, search_remarks
from biaswatch.shared.requests.search_views import SearchView
from biaswatch.shared.requests.searches import SearchResults

MAX_TOPICS = 10
"""Topics of the coverage, the most often asked, unless all are requested."""


def print_search(view: SearchView, *, everything: bool = False) -> None:
    """Print a search: the headline first."""
    console, results = Console(emoji=False), view.results
    print_sentence(console, results.headline)
    if results.findings:
        print_table(console, rich_table(findings_table(results)))
    print_bullets(console, search_remarks(view.progress, results))
    _print_coverage(console, results, everything=everything)


def _print_coverage(console: Console, results: SearchResults, *, everything: bool) -> None:
    coverage = results.coverage
    topics = sorted(coverage.topics, key=lambda topic: -topic.sets)
    shown = topics if everything else topics[:MAX_TOPICS]
    for title, regions in (
        ("area", coverage.areas),
        ("context", coverage.contexts),
        ("topic", shown),
    ):
        if regions:
            print_table(console, rich_table(coverage_table(regions, title)))
    if hidden := len(topics) - len(shown):
        print_sentence(console, f"{hidden:,} topics that were asked less often: --all.")
