"""The outline of a written report: headings, lengths and tasks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ReportSection:
    """A heading and the requirements for its text."""

    level: int
    title: str
    least: int = 0
    """Fewest sentences; 0 for a heading without text of its own."""
    most: int = 0
    numbers: bool = True
    """Allow slots of numbers."""
    task: str = ""
    """Instructions for the writer."""


OUTLINE = (
    ReportSection(
        4, "Executive Summary", 2, 4, numbers=False,
        task="the outcome, both groups, and the conclusion alone",
    ),
    ReportSection(4, "Findings"),
    ReportSection(
        5, "What statistical methods were used?", 2, 6, numbers=False,
        task="how each listed method works, in everyday words",
    ),
    ReportSection(
        5, "What meaning and trends did we find?", 3, 20,
        task="each estimate with its interval, each test with its p-value, how odds differ from"
        " risk, one conclusion",
    ),
    ReportSection(
        5, "What ethical considerations are necessary when interpreting this result?", 2, 5,
        numbers=False, task="no cause can be shown, and a difference describes no group's nature",
    ),
    ReportSection(4, "Analytical Constraints and Considerations"),
    ReportSection(
        5, "What is the input dataset unable to tell us and why?", 2, 10,
        task="what the data leave out, whether there are enough cases, what the notes warn of,"
        " caution, experts",
    ),
    ReportSection(
        5, "Key Terms and Methodology", 3, 12, numbers=False,
        task="a definition of each listed method, interval, p-value and balance ratio",
    ),
)  # fmt: skip
"""The headings of a written report, in their order."""


def heading_problems(
    titles: Sequence[str], sections: Iterable[ReportSection] = OUTLINE
) -> Iterator[tuple[str, str]]:
    """Yield the headings that do not occur exactly once among titles, with the reason."""
    for title in [section.title for section in sections]:
        if titles.count(title) != 1:
            problem = "occurs more than once" if title in titles else "is missing"
            yield title, f"The heading {title!r} {problem}."
