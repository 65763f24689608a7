"""The outline of a written report: headings, lengths and tasks."""

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

    @property
    def heading(self) -> str:
        """The heading as a line of Markdown."""
        return f"{'#' * self.level} {self.title}"


SUMMARY = "Executive Summary"
METHODS = "What statistical methods were used?"
MEANING = "What meaning and trends did we find?"
ETHICS = "What ethical considerations are necessary when interpreting this result?"
LIMITS = "What is the input dataset unable to tell us and why?"
TERMS = "Key Terms and Methodology"

OUTLINE = (
    ReportSection(
        4, SUMMARY, 2, 4, numbers=False,
        task="Name the outcome and both groups. Then give the conclusion alone: whether the "
        "statistics show a disparity, do not show one, or leave it open.",
    ),
    ReportSection(4, "Findings"),
    ReportSection(
        5, METHODS, 2, 6, numbers=False,
        task="Say in everyday words how each listed method works.",
    ),
    ReportSection(
        5, MEANING, 3, 20,
        task="Go through the statistics: each estimate with its interval, each test with its "
        "p-value, whether the interval contains the value of no difference, and how odds differ "
        "from risk. Draw one conclusion.",
    ),
    ReportSection(
        5, ETHICS, 2, 5, numbers=False,
        task="Say that the statistics cannot show a cause, and that a difference describes no "
        "group's nature.",
    ),
    ReportSection(4, "Analytical Constraints and Considerations"),
    ReportSection(
        5, LIMITS, 2, 10,
        task="Name what the data leave out, how many cases there are and whether they are enough, "
        "and everything that a note warns of. Ask for caution and for experts.",
    ),
    ReportSection(
        5, TERMS, 3, 12, numbers=False,
        task="Define the listed methods, the confidence interval, the p-value and the balance "
        "ratio in a sentence each.",
    ),
)  # fmt: skip
"""The headings of a written report, in their order."""
