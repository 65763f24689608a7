"""Gates: what `--fail-on` and assertions conclude of comparisons, and why, in sentences."""

from biaswatch.gates.compared import (
    GatedComparison,
    gated_changes,
    gated_diagnoses,
    gated_rows,
    is_unmeasured_row,
    ungrouped,
)
from biaswatch.gates.results import (
    CHANGED,
    GateCode,
    GateResult,
    GateRule,
    gate_result,
    measurement_warnings,
)

__all__ = [
    "CHANGED",
    "GateCode",
    "GateResult",
    "GateRule",
    "GatedComparison",
    "gate_result",
    "gated_changes",
    "gated_diagnoses",
    "gated_rows",
    "is_unmeasured_row",
    "measurement_warnings",
    "ungrouped",
]
