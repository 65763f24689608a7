"""The result of `bw.diagnose`: the parts of a diagnosis as frames, sentences and pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from biaswatch.api import frames
from biaswatch.checks import (
    CheckedComparison,
    CheckResult,
    CheckRule,
    check_result,
    is_unmeasured_row,
)
from biaswatch.diagnosis.cases import strongest_cases
from biaswatch.diagnosis.diagnosis import DiagnosisResult
from biaswatch.render.figures.gaps import gap_figure
from biaswatch.render.findable import findable_sentences
from biaswatch.render.table_rows import (
    Parts,
    comparable_p,
    summary_gap_text,
    verdict_counts,
    verdicts_of,
)
from biaswatch.render.written_tables import LEADING, check_table_file, flattened, write_diagnosis
from biaswatch.shared.contracts import LEAST_MEASURED_SHARE, SummaryWord
from biaswatch.shared.formatting import NOT_MEASURED
from biaswatch.shared.presentation.corrections import (
    SAMPLING_ASSUMPTION,
    table_correction_sentences,
)
from biaswatch.shared.presentation.interactions import interaction_sentences
from biaswatch.shared.presentation.verdicts import compared_groups, headline

SHOWN = (
    *("feature", "domain", "a", "b", "summary_gap", "summary_ci_low", "summary_ci_high"),
    *("p_summary", "summary", "same_treatment", "p_same_treatment"),
    *("group_effect", "p_group_effect"),
)


@dataclass(frozen=True, repr=False)
class FrameDiagnosis:
    """The diagnosis of a frame or a run; its tables are frames of the same library."""

    result: DiagnosisResult
    backend: Any

    @property
    def parts(self) -> Parts:
        """All parts as plain rows, as in `biaswatch diagnose --json`."""
        return self.result.parts

    @property
    def warnings(self) -> list[str]:
        """Warnings about the rows and the missing answers."""
        return [frames.in_python(warning) for warning in self.result.warnings]

    @property
    def corrected_sentences(self) -> Sequence[str]:
        """Sentences on the gaps corrected by labels; empty without labels."""
        corrected = self.result.corrected
        sentences = table_correction_sentences(corrected)
        return [*sentences, SAMPLING_ASSUMPTION] if corrected else []

    @property
    def checked(self) -> Sequence[CheckedComparison]:
        """The comparisons in the form that gates check."""
        return self.result.checked

    @property
    def comparisons(self) -> Any:
        """Gaps with intervals, the conclusion in `summary` and p-values, strongest first.

        `summary` answers the headline question; `verdict` is about the mean gap alone.
        """
        return frames.native_frame(self.result.comparisons, self.backend, LEADING)

    def cases(
        self,
        feature: str | None = None,
        a: str | None = None,
        b: str | None = None,
        *,
        domain: str | None = None,
        n: int | None = 10,
    ) -> Any:
        """Return the sets that differ most, in the direction of the gap first.

        Without sets that both groups have, the units of each group, beside the other's mean.

        Parameters
        ----------
        feature, a, b, domain
            Of one comparison; by default the strongest of each feature.
        n
            The number of cases of a comparison; None for all.

        Raises
        ------
        UsageError
            There is no such comparison.
        """
        rows = strongest_cases(self.result, n, feature=feature, a=a, b=b, domain=domain)
        return frames.native_frame(rows, self.backend)

    @property
    def groups(self) -> Any:
        """Statistics by group, with intervals and numbers of missing values."""
        return self._frame("summary")

    @property
    def by_group(self) -> Any:
        """One row per group and feature, with each statistic as a column."""
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in self.parts["summary"]:
            about = {**row["group"], "domain": row["domain"], "feature": row["feature"]}
            wide = rows.setdefault(
                tuple(about.items()), {**about, "n": row["n"], "n_missing": row["n_missing"]}
            )
            wide[row["statistic"]] = row["value"]
        return frames.native_frame(rows.values(), self.backend)

    @property
    def disparities(self) -> Any:
        """Differences and ratios over all groups, with their distribution by chance."""
        return self._frame("disparity")

    @property
    def overall(self) -> Any:
        """The joint test over all groups of a dimension."""
        return self._frame("overall")

    @property
    def missing(self) -> Any:
        """Missing values by group, with a test for differences."""
        return self._frame("missingness")

    @property
    def corrections(self) -> Any:
        """Gaps by the readings and corrected by labels; no rows without labels."""
        return self._frame("corrections")

    @property
    def error_rates(self) -> Any:
        """Selection, error rates, precision, accuracy by group; no rows without a truth."""
        return self._frame("error_rates")

    @property
    def parity(self) -> Any:
        """Differences and ratios of demographic parity, equalized odds, equal opportunity."""
        return self._frame("parity")

    @property
    def calibration(self) -> Any:
        """Mean scores and shares of positive truths of each group, by tenths of scores."""
        return self._frame("calibration")

    @property
    def has_disparity(self) -> bool:
        """True if a comparison is a disparity by the readings.

        False does not exclude a disparity: `check` reports whether enough was measured.
        """
        return any(row["summary"] == SummaryWord.DISPARITY for row in self.result.comparisons)

    def check(self, least: float = 0.0, min_measured: float = LEAST_MEASURED_SHARE) -> CheckResult:
        """Return the result of a gate: its `code` 0, 1 or 3, and its `reasons`."""
        return check_result(self.checked, CheckRule(least, min_measured))

    @cached_property
    def sentences(self) -> list[str]:
        """Conclusions, the strongest first; then gaps that could be found, and interactions."""
        crossed = self.parts.get("interactions", [])
        return [
            *(comparison_sentence(row) for row in self.result.comparisons),
            *findable_sentences(self.result.comparisons, self.result.about),
            *interaction_sentences(crossed, self.result.about["alpha"]),
        ]

    def figure(self) -> Any:
        """Return the gaps and their intervals as a matplotlib figure."""
        return gap_figure(self.result.comparisons, self.result.about, self.result.request.reference)

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *self.corrected_sentences, *self.warnings])

    def write(self, path: str | Path) -> None:
        """Write the tables, or a picture of the gaps: .xlsx, .csv, .parquet, .png or .svg.

        Raises
        ------
        UsageError
            The file cannot be written, or its ending is unknown.
        """
        check_table_file(Path(path), pictures=True)
        result = self.result
        write_diagnosis(
            result.parts, result.about, self.warnings, Path(path), result.request.reference
        )

    def __repr__(self) -> str:
        lead = f"<FrameDiagnosis: {verdict_counts(self.result.comparisons)}>"
        return frames.text_of(lead, str(self).splitlines())

    def _repr_html_(self) -> str:
        rows = [flattened(row) for row in self.result.comparisons]
        shown = [{name: row.get(name) for name in SHOWN} for row in rows]
        sentences = [*self.sentences[:12], *self.corrected_sentences[:12], *self.warnings]
        return frames.html_of(sentences, {"Comparisons": shown})

    def _frame(self, part: str) -> Any:
        return frames.native_frame(self.parts.get(part, []), self.backend)


def comparison_sentence(row: Mapping[str, Any]) -> str:
    """Return the conclusion from one comparison as a sentence."""
    where = f"{row['domain']}: " if row["domain"] else ""
    if is_unmeasured_row(row):
        empty = " and ".join(row[side] for side in ("a", "b") if not row[f"n_{side}"])
        groups = f"{where}{row['a']} against {row['b']}, {row['feature']}"
        return f"{groups}: {NOT_MEASURED}, no row of {empty} has a value."
    verdicts = verdicts_of(row)
    groups = compared_groups(row["a"], row["b"], row["gap"], verdicts.summary)
    gap, p = summary_gap_text(row), comparable_p(row)
    answer = headline(verdicts, gap, p, survives_missing=row["survives_missing"])
    return f"{where}{groups}, {row['feature']}: {answer}"
