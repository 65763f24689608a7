"""Comparisons as gates look at them: of a run's findings, of a table, of two runs."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from biaswatch.shared.contracts import Diagnosis, MeasuredAnswers, Verdict

Row = Mapping[str, Any]


@dataclass(frozen=True)
class CheckedComparison:
    """One comparison as gates and warnings look at it."""

    where: str
    """The feature, and the target or domain."""
    groups: str
    """`a against b`."""
    verdict: str
    size: float | None
    sides: tuple[MeasuredAnswers, ...]
    survives_missing: bool | None

    @property
    def name(self) -> str:
        """The feature and the groups, for lists."""
        return f"{self.where}, {self.groups}" if self.groups else self.where

    @property
    def name_with_missing(self) -> str:
        """The name with the number of missing answers."""
        requested = sum(side.requested for side in self.sides)
        missing = requested - sum(side.measured for side in self.sides)
        return f"{self.name} ({missing:,} of {requested:,} answers missing)"

    @property
    def is_undecided(self) -> bool:
        """True for an inconclusive comparison."""
        return self.verdict == Verdict.INCONCLUSIVE

    @property
    def is_undone(self) -> bool:
        """True where the missing answers could undo the verdict."""
        return self.survives_missing is False

    @property
    def is_empty(self) -> bool:
        """True where one side has no measured answer."""
        return any(not side.measured for side in self.sides)

    def is_measured(self, least_share: float) -> bool:
        """Return whether enough answers of every side gave a number."""
        return all(side.is_enough(least_share) for side in self.sides)


def checked_diagnoses(diagnoses: Iterable[Diagnosis]) -> list[CheckedComparison]:
    """Return the comparisons of a run's findings."""
    return [
        CheckedComparison(
            where=f"{diagnosis.target}, {diagnosis.feature}",
            groups=f"{gap.a} against {gap.b}",
            verdict=gap.summary.value,
            size=gap.gap.value,
            sides=diagnosis.sides(gap),
            survives_missing=gap.survives_missing,
        )
        for diagnosis in diagnoses
        for gap in diagnosis.gaps
    ]


def checked_table(rows: Iterable[Row]) -> list[CheckedComparison]:
    """Return the comparisons of a table, as `diagnose --json` has them."""
    return [
        CheckedComparison(
            where=_joined(row["domain"], row["feature"]),
            groups=f"{row['a']} against {row['b']}",
            verdict=row["summary"],
            size=row["gap"],
            sides=(
                _counted(row["a"], row["n_a"], row["n_missing_a"]),
                _counted(row["b"], row["n_b"], row["n_missing_b"]),
            ),
            survives_missing=row["survives_missing"],
        )
        for row in rows
    ]


def is_unmeasured_row(row: Row) -> bool:
    """Return whether one side of a row of `diagnose --json` has no measured answer."""
    return not (row["n_a"] and row["n_b"])


def ungrouped(
    summary: Iterable[Row], compared: Iterable[Row], named: Collection[str] = ()
) -> list[CheckedComparison]:
    """Return an unmeasured comparison for each dimension and domain with a single group.

    Parameters
    ----------
    summary, compared
        The rows `summary` and `comparisons` of `diagnose --json`.
    named
        Dimensions of `--group`. Any other counts only where it is compared in another domain: a
        suite may give all its probes the same group.
    """
    paired = {(row["feature"], row["dimension"], row["domain"]) for row in compared}
    wanted = {*named, *(dimension for _, dimension, _ in paired)}
    lone: dict[tuple[str, str, str | None], MeasuredAnswers] = {}
    for row in summary:
        if len(row["group"]) != 1:
            continue
        [(dimension, group)] = row["group"].items()
        key = (row["feature"], dimension, row["domain"])
        if dimension in wanted and key not in paired:
            lone[key] = _counted(group, row["n"], row["n_missing"])
    nameless = wanted - {dimension for _, dimension, _ in (*paired, *lone)}
    return [
        *(
            _lone(_joined(domain, feature), dimension, side)
            for (feature, dimension, domain), side in lone.items()
        ),
        *(_lone("all features", dimension) for dimension in sorted(nameless)),
    ]


def _lone(where: str, dimension: str, *sides: MeasuredAnswers) -> CheckedComparison:
    other = f"any other group of {dimension}" if sides else f"any group of {dimension}"
    return CheckedComparison(
        where=where,
        groups=f"groups of {dimension}",
        verdict=Verdict.INCONCLUSIVE.value,
        size=None,
        sides=(*sides, MeasuredAnswers(other, 0, 0)),
        survives_missing=None,
    )


def checked_changes(rows: Iterable[Row]) -> list[CheckedComparison]:
    """Return the changes between two runs, as `compare --json` has them.

    Whether an answer is missing is known of every answer, so changes of shares have no sides.
    """
    return [
        CheckedComparison(
            where=_joined(row["domain"], f"{row['of']} of {row['feature']}"),
            groups=" against ".join(filter(None, [row["a"], row["b"]])),
            verdict=row["verdict"],
            size=row["change"],
            sides=() if row["of"] == "missing" else _runs_sides(row),
            survives_missing=row["survives_missing"],
        )
        for row in rows
    ]


def _runs_sides(row: Row) -> tuple[MeasuredAnswers, ...]:
    groups = " and ".join(filter(None, [row["a"], row["b"]])) or "all groups"
    return tuple(
        _counted(f"{groups} in the {place} run", row[f"n_{when}"], row[f"n_missing_{when}"])
        for place, when in (("first", "before"), ("second", "after"))
    )


def _counted(group: str, measured: int, missing: int) -> MeasuredAnswers:
    return MeasuredAnswers(group, measured, measured + missing)


def _joined(domain: str | None, feature: str) -> str:
    return f"{domain}, {feature}" if domain else feature
