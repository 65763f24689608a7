"""What is measured besides the gaps, as tables: one row for all, then who is treated how."""

from collections.abc import Iterator, Sequence

from rich.console import Console

from biaswatch.render.tables import escape, print_table, terminal_table
from biaswatch.shared.contracts import Assessment, Consistency, Quality, TotalBias
from biaswatch.shared.formatting import UNDEFINED, coverage, number, p_equals, p_value
from biaswatch.shared.presentation.columns import estimate_text
from biaswatch.shared.presentation.names import ModelNames

SUMMARY_HEAD = (
    "target, scaffold",
    "feature",
    "total bias (by chance)",
    "quality",
    "consistency",
    "missing",
)


TERMINAL_HEAD = ("target, scaffold", "total bias", "chance", "p", "quality", "sd", "missing")


def print_assessments(
    console: Console, assessments: Sequence[Assessment], *, everything: bool = False
) -> None:
    """Print what was assessed, if anything was; the tables of each only if asked for."""
    if not assessments:
        return
    console.print("\n[bold]Beyond the gaps[/] (sd: over repeats of a prompt)", highlight=False)
    names = ModelNames.among(assessments)
    rows = (_terminal_row(each, names.of(each)) for each in assessments)
    print_table(console, terminal_table(TERMINAL_HEAD, rows))
    if not everything:
        return
    for each in assessments:
        for title, head, cells in details(each):
            said = f"{names.of(each)}: {title}"
            console.print(f"\n[bold]{escape(said)}[/]", soft_wrap=True)
            print_table(console, terminal_table(head, cells))


def _terminal_row(each: Assessment, model: str) -> list[str]:
    bias, reasons = each.total_bias, (each.total_bias.reason, each.quality.reason)
    why = next((f" [{reason}]" for reason in reasons if reason), "")
    numbers = (bias.value, bias.null_median)
    return [
        model + why,
        *map(number, numbers),
        p_value(bias.p_value),
        number(each.quality.value),
        number(each.consistency.mean_sd),
        f"{each.missing}/{each.answers}",
    ]


def summary_rows(assessments: Sequence[Assessment]) -> Iterator[list[str]]:
    """Return the numbers of each assessment, in the order of SUMMARY_HEAD."""
    names = ModelNames.among(assessments)
    return (_summary_row(each, names.of(each)) for each in assessments)


def _summary_row(assessment: Assessment, model: str) -> list[str]:
    return [
        model,
        assessment.feature,
        _total_bias(assessment.total_bias),
        _quality(assessment.quality),
        _consistency(assessment.consistency),
        f"{assessment.missing} of {assessment.answers}",
    ]


def details(assessment: Assessment) -> Iterator[tuple[str, Sequence[str], Iterator[list[str]]]]:
    """Return the title, head and rows of each table an assessment has."""
    level = coverage(assessment.alpha)
    if deviations := assessment.deviations:
        rows = ([f"{d.dimension} {d.group}", estimate_text(d.gap)] for d in deviations)
        yield "against the anonymised twins", ("group", f"gap [{level}]"), rows
    if errors := assessment.quality.against_anonymised:
        means = (number(errors.identified), number(errors.anonymised))
        error_head = ("identified", "anonymised", f"difference [{level}]")
        yield (
            "mean absolute error, identified against anonymised",
            error_head,
            iter([[*means, estimate_text(errors.gap)]]),
        )
    if cells := assessment.cells:
        cell_head = ("groups", f"mean [{level}]", "answers", "missing")
        by_cell = (
            [", ".join(c.groups.values()), estimate_text(c.mean), str(c.answers), str(c.missing)]
            for c in cells
        )
        yield "every combination of groups", cell_head, by_cell
    if criteria := assessment.criteria:
        criterion_head = ("criterion", "groups", f"gap [{level}]", "family p", "missing")
        judged = (
            [
                *(c.criterion, f"{c.a} - {c.b}", estimate_text(c.gap)),
                *(p_value(c.p_adjusted), str(c.missing)),
            ]
            for c in criteria
        )
        yield "by criterion, a family of their own", criterion_head, judged


def tables_of_all(
    assessments: Sequence[Assessment],
) -> Iterator[tuple[str, Sequence[str], list[list[str]]]]:
    """Return the title, head and rows of each kind of table, over all targets and scaffolds."""
    found: dict[str, tuple[Sequence[str], list[list[str]]]] = {}
    names = ModelNames.among(assessments)
    for each in assessments:
        for title, head, rows in details(each):
            _, every = found.setdefault(title, (head, []))
            every += ([names.of(each), *row] for row in rows)
    for title, (head, every) in found.items():
        yield title.capitalize(), ("target, scaffold", *head), every


def _total_bias(found: TotalBias) -> str:
    if found.value is None:
        return _undefined(found)
    chance = number(found.null_median)
    return f"{number(found.value)} ({chance}, {p_equals(found.p_value)})"


def _quality(found: Quality) -> str:
    if found.value is None:
        return _undefined(found)
    return f"{number(found.value)} (mean error {number(found.mean_absolute_error)})"


def _consistency(found: Consistency) -> str:
    if found.mean_sd is None or found.one_answer is None:
        return _undefined(found)
    same = f"{100 * found.one_answer:.0f} %"
    return f"sd {number(found.mean_sd)}, {same} always alike"


def _undefined(found: TotalBias | Quality | Consistency) -> str:
    return f"{UNDEFINED} [{found.reason}]"
