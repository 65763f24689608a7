"""The structure every report has: headings in their order, how much stands under each, and what."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """One heading, and what is to stand under it."""

    level: int
    title: str
    least: int = 0
    """Fewest sentences; 0 for a heading that only gathers others."""
    most: int = 0
    numbers: bool = True
    """Whether numbers of this analysis may stand here."""
    task: str = ""
    """What the writer is asked for."""

    @property
    def heading(self) -> str:
        """The line as it stands in a report."""
        return f"{'#' * self.level} {self.title}"


SUMMARY = "Executive Summary"
METHODS = "What statistical methods were used?"
MEANING = "What meaning and trends did we find?"
ETHICS = "What ethical considerations are necessary when interpreting this result?"
LIMITS = "What is the input dataset unable to tell us and why?"
TERMS = "Key Terms and Methodology"

OUTLINE = (
    Section(
        4, SUMMARY, 2, 3, numbers=False,
        task="First name the outcome and the two groups. Then give the conclusion alone: whether "
        "the statistics show a disparity, do not show one, or leave it open; if there is one, "
        "whom it disfavours and whether it is slight, moderate or strong. Name no method.",
    ),
    Section(4, "Findings"),
    Section(
        5, METHODS, 2, 5, numbers=False,
        task="For each method listed under Statistics, say in everyday words how it works and why "
        "it suits a comparison of two groups.",
    ),
    Section(
        5, MEANING, 4, 12,
        task="Go through the listed statistics one by one. State each estimate with its interval, "
        "and each p-value, exactly as listed; say whether the interval contains the value of no "
        "difference and how precise it makes the estimate. Where an odds ratio and a relative "
        "risk are listed, compare them and say how odds differ from risk. Then draw one "
        "conclusion from all of them; where they disagree, or a note warns of something, say "
        "what that means for it.",
    ),
    Section(
        5, ETHICS, 2, 5, numbers=False,
        task="Say that the statistics describe outcomes and cannot show their cause, and that a "
        "difference must not be read as the nature, ability or conduct of a group. Name the "
        "process that produced the outcomes as a place to look, without claiming it as proven.",
    ),
    Section(4, "Analytical Constraints and Considerations"),
    Section(
        5, LIMITS, 2, 6,
        task="Name what the data leave out and how each gap could change the reading. Say how many "
        "cases there are, whether that is enough next to the fewest a group needs, and what the "
        "number means for the precision. Ask for caution and for somebody who knows the field.",
    ),
    Section(
        5, TERMS, 3, 12, numbers=False,
        task="Define for a lay reader, a sentence each, the listed methods, the confidence "
        "interval and, where one is listed, the p-value. General definitions only.",
    ),
)  # fmt: skip
