"""Gates: the conclusions of `--fail-on` and assertions from comparisons, with reasons."""

from biaswatch.checks.compared import (
    CheckedComparison,
    checked_changes,
    checked_diagnoses,
    checked_table,
    is_unmeasured_row,
    ungrouped,
)
from biaswatch.checks.results import (
    CHANGED,
    CheckCode,
    CheckResult,
    CheckRule,
    check_result,
    measurement_warnings,
)

__all__ = [
    "CHANGED",
    "CheckCode",
    "CheckResult",
    "CheckRule",
    "CheckedComparison",
    "check_result",
    "checked_changes",
    "checked_diagnoses",
    "checked_table",
    "is_unmeasured_row",
    "measurement_warnings",
    "ungrouped",
]
