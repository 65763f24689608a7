"""A table's diagnosis as rows for JSON and files, and as tables for people."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from biaswatch.render.all_groups import (
    group_mean_row,
    group_mean_tables,
    overall_row,
    overall_sentences,
    print_disparities,
    row_verdict,
    verdict_counts,
)
from biaswatch.render.tables import (
    escape,
    print_sentence,
    print_table,
    printable,
    terminal_table,
    verdict_text,
)
from biaswatch.shared.analysis.findings.comparisons import GroupComparison
from biaswatch.shared.analysis.findings.diagnosis import TableDiagnosis
from biaswatch.shared.analysis.findings.group_statistics import GroupedMissingness, GroupStatistic
from biaswatch.shared.contracts import Claim
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import (
    TOO_SMALL,
    by_evidence,
    computed_p,
    coverage,
    interval,
    number,
    p_equals,
    p_value,
)
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.written_files import written_whole

Row = dict[str, Any]
Parts = dict[str, list[Row]]
DISPARITY = (
    *("feature", "statistic", "dimension", "domain", "metric", "value", "group"),
    *("null_median", "p_value", "reason"),
)
MOST_COMPARED = 10
"""So many comparisons are shown unless all are asked for."""
WIDE = 120
"""The width of a terminal that has room for gap and effect size side by side."""
NUMBERS = 32
"""The width of a gap with its interval, or of the reason why it has none."""
ROW = "row"
"""What is a unit where none is named."""


def result_rows(found: TableDiagnosis, unit: str | None) -> Parts:
    """Return the rows of every part, as JSON has them; `unit` names what counted as one unit."""
    return {
        "overall": [overall_row(each) for each in found.overall],
        "summary": [_summary_row(each) for each in found.statistics],
        "disparity": [
            {name: getattr(each, name) for name in DISPARITY} | {"domain": each.domain or None}
            for each in found.disparities
        ],
        "comparisons": sorted(
            ({**_comparison_row(each), "unit": unit or ROW} for each in found.comparisons),
            key=lambda row: by_evidence(row["verdict"] or "", _comparable_p(row), row["gap"]),
        ),
        "group_means": [group_mean_row(each) for each in found.means],
        "missingness": [_absence_row(each) for each in found.missingness],
    }


def _summary_row(each: GroupStatistic) -> Row:
    return {
        "feature": each.feature,
        "statistic": each.statistic,
        "group": each.group,
        "domain": each.domain or None,
        "value": each.value,
        "ci": _bounds(each.low, each.high),
        "ci_method": each.method or None,
        "n": each.n,
        "n_missing": each.n_missing,
        "reason": each.reason,
    }


def _comparison_row(each: GroupComparison) -> Row:
    conclusion = each.conclusion
    statistics: Row = {}
    for name, value in each.statistics.items():  # one with an interval has three columns
        if isinstance(value, Estimate):
            statistics[name], statistics[f"{name}_ci"] = value.value, _bounds(value.low, value.high)
            statistics[f"{name}_method"] = value.method
        else:
            statistics[name] = computed_p(value) if name.endswith("_p") else value
    return {
        "feature": each.feature,
        "dimension": each.dimension,
        "domain": each.domain or None,
        "a": each.a,
        "b": each.b,
        "gap": each.gap.value,
        "ci": _bounds(each.gap.low, each.gap.high),
        "ci_by_itself": _bounds(each.by_itself.low, each.by_itself.high),
        "p_value": computed_p(each.p_value),
        "p_adjusted": computed_p(each.p_adjusted),
        "p_equivalence": computed_p(each.p_equivalence_adjusted),
        "p_reason": TOO_SMALL if each.p_value == 0 else None,
        "method": each.gap.method,
        **statistics,
        "n_a": each.n_a,
        "n_b": each.n_b,
        "n_missing_a": each.n_missing_a,
        "n_missing_b": each.n_missing_b,
        "units_a": each.units_a,
        "units_b": each.units_b,
        "verdict": conclusion.verdict.value if conclusion else None,
        "survives_missing": each.survives_missing,
        "reason": each.gap.reason or (conclusion.reason if conclusion else None),
    }


def _comparable_p(row: Row) -> float | None:
    """Return the adjusted p; one that is too small to be computed is 0."""
    return 0.0 if row["p_reason"] else row["p_adjusted"]


def _absence_row(each: GroupedMissingness) -> Row:
    return {
        "feature": each.feature,
        "dimension": each.dimension,
        "domain": each.domain or None,
        "groups": {
            name: {
                "units": group.asked,
                "units_missing": group.missing,
                "share": group.share.value,
                "ci": _bounds(group.share.low, group.share.high),
            }
            for name, group in each.test.groups.items()
        },
        "statistic": each.test.statistic,
        "p_value": each.test.p_value,
        "method": each.test.method or None,
        "reason": each.test.reason,
    }


def _bounds(low: float | None, high: float | None) -> list[float | None] | None:
    return None if low is None and high is None else [low, high]


def write_rows(found: Parts, output: Path) -> Iterator[Path]:
    """Write each part beside `output`: `gaps.csv` becomes `gaps.summary.csv`, and so on.

    Raises
    ------
    UsageError
        The ending is neither .csv nor .parquet, or the folder cannot be written.
    """
    if output.suffix not in {".csv", ".parquet"}:
        raise UsageError(f"{output} is neither CSV nor Parquet; its ending says what it shall be.")
    for name, rows in found.items():
        path = output.with_suffix(f".{name}{output.suffix}")
        frame = pd.json_normalize(rows)
        with written_whole(path) as part:
            frame.to_csv(part, index=False) if output.suffix == ".csv" else frame.to_parquet(part)
        yield path


def unit_sentences(about: Row) -> Iterator[str]:
    """Return what counted as one unit, and what the conclusions are about."""
    if about["unit"] is None:
        yield f"Each of {about['rows']} rows counted as an independent unit: no unit was named."
    else:
        yield f"The unit is {about['unit']}: {about['units']} in {about['rows']} rows."
    if about["set"] is not None:
        yield f"Groups are compared within {about['set']} where they share some."
    if about["claim"] == Claim.BANK:
        yield "The conclusions are about these prompts alone: each answer to them is a unit."
    if about["calibrated"]:
        yield "Values are less those of the baseline."


def print_tables(
    found: Parts, about: Row, warnings: Sequence[str], *, everything: bool = False
) -> None:
    """Print the parts as tables: the decisive sentence and the comparisons that say most first."""
    console = Console(emoji=False)
    level = coverage(about["alpha"])
    compared = found["comparisons"]
    most = len(compared) if everything else min(len(compared), MOST_COMPARED)
    print_sentence(console, verdict_counts(compared), style="bold")
    print_table(console, _comparison_table(compared[:most], level, console.width), "")
    if left := len(compared) - most:
        print_sentence(console, f"The {left} that say least: --all, --json, -o.")
    for line in (*_without_interval(compared), *overall_sentences(found["overall"])):
        print_sentence(console, line)
    for table in group_mean_tables(found["group_means"], level):
        print_table(console, table, "")
    print_disparities(console, found["disparity"])
    for table in _summary_tables(found["summary"], level):
        print_table(console, table, "")
    for row in found["missingness"]:
        if row["p_value"] is not None:
            said = f"Missing answers of {row['feature']} by {row['dimension']}"
            print_sentence(console, f"{said}: {p_equals(row['p_value'])} ({row['method']}).")
    print_sentence(console, " ".join(unit_sentences(about)), style="dim")
    for warning in warnings:
        print_sentence(console, warning, style="yellow")


def _without_interval(rows: Sequence[Row]) -> Iterator[str]:
    """Return why gaps that were measured have no interval, each reason once."""
    reasons = Counter(row["reason"] for row in rows if row["ci"] is None and row["gap"] is not None)
    for reason, times in reasons.items():
        yield f"{times} of {len(rows)} gaps without interval: {reason}."


def _summary_tables(rows: Sequence[Row], level: str) -> Iterator[Table]:
    """Return a table for each feature: a row for each group, a column for each statistic."""
    features = dict.fromkeys(row["feature"] for row in rows)
    statistics = list(dict.fromkeys(row["statistic"] for row in rows))
    for feature in features:
        # With spaces for underscores a header wraps at its words.
        names = (name.replace("_", " ") for name in statistics)
        groups: dict[str, list[Row]] = {}
        for row in rows:
            if row["feature"] == feature:
                name = ", ".join(filter(None, [row["domain"], *row["group"].values()]))
                groups.setdefault(name, []).append(row)
        cells = (
            [
                *(name, str(found[0]["n"]), str(found[0]["n_missing"])),
                *(_with_bounds(row, "value") for row in found),
            ]
            for name, found in groups.items()
        )
        table = terminal_table(("group", "n", "missing", *names), cells)
        table.title, table.title_justify = escape(f"{feature} [{level}]"), "left"
        yield table


def _comparison_table(rows: Sequence[Row], level: str, width: int) -> Table:
    """Return a row for each comparison; where there is little room, the effect size has a line."""
    wide = width >= WIDE
    head = ["feature", "groups", f"gap [{level}]", "p adjusted", "verdict"]
    if wide:
        head.insert(4, f"effect size [{level}]")
    else:
        head[2] = f"gap, effect size [{level}]"
    found = []
    for row in rows:
        gap, effect = _with_bounds(row, "gap"), _with_bounds(row, "effect_size", "effect_size_ci")
        gap = "\n".join(wrap(gap, NUMBERS))
        p_adjusted = p_value(_comparable_p(row))
        numbers = (gap, p_adjusted, effect) if wide else (f"{gap}\neffect {effect}", p_adjusted)
        found.append(
            (
                row["feature"],
                ", ".join(filter(None, [row["domain"], f"{row['a']} - {row['b']}"])),
                *(Text(printable(each)) for each in numbers),
                verdict_text(row["verdict"], row_verdict(row)),
            )
        )
    table = terminal_table(head, found)
    for column in table.columns[2 : len(head) - 1]:
        column.no_wrap = True
    return table


def _with_bounds(row: Mapping[str, Any], key: str, bounds: str = "ci") -> str:
    """Return a number with the interval that belongs to it."""
    if row[bounds] is None:
        said = row["reason"] if row[key] is None and bounds == "ci" else None
        return number(row[key]) + (f" ({said})" if said else "")
    low, high = row[bounds]
    return interval(row[key], low, high, row["reason"])
