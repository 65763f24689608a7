"""Two runs side by side: every comparison that both made, what moved first."""

from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.shared.contracts import Diagnosis, Gap, Verdict
from biaswatch.shared.formatting import interval
from biaswatch.shared.presentation.model_names import ModelNames
from biaswatch.shared.presentation.page_tables import (
    PageCell,
    PageColumn,
    PageTable,
    number_cell,
    words_cell,
)

Key = tuple[str, ...]


@dataclass(frozen=True)
class ComparedGap:
    """One comparison as two runs made it."""

    model: str
    what: str
    groups: str
    before: Gap
    after: Gap

    @property
    def moved(self) -> float | None:
        """How much the gap grew or shrank."""
        if self.before.gap.value is None or self.after.gap.value is None:
            return None
        return self.after.gap.value - self.before.gap.value

    @property
    def apart(self) -> bool:
        """Whether the intervals do not meet."""
        return self.intervals == "apart"

    @property
    def intervals(self) -> str:
        """How the intervals lie: apart or meeting; unknown where one run has none."""
        one, two = self.before.gap, self.after.gap
        if one.low is None or one.high is None or two.low is None or two.high is None:
            return "unknown"
        return "apart" if one.high < two.low or two.high < one.low else "meet"


@dataclass(frozen=True)
class ComparedRuns:
    """What two runs have in common."""

    gaps: tuple[ComparedGap, ...]
    only_before: int
    only_after: int

    @property
    def unknown(self) -> int:
        """How many comparisons have an interval in one run alone, or in none."""
        return sum(gap.intervals == "unknown" for gap in self.gaps)

    @property
    def new(self) -> int:
        """How many disparities the later run alone shows."""
        return sum(_found(each.after) and not _found(each.before) for each in self.gaps)

    @property
    def gone(self) -> int:
        """How many disparities the earlier run alone shows."""
        return sum(_found(each.before) and not _found(each.after) for each in self.gaps)


def compared_runs(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> ComparedRuns:
    """Return the comparisons that both runs made; if each has one model, of these two."""
    models = [{each.target for each in some} for some in (before, after)]
    alone = all(len(each) == 1 for each in models)
    one, two = (_by_key(some, by_model=not alone) for some in (before, after))
    names = ModelNames.among([*before, *after])
    gaps = [
        ComparedGap(
            _models(one[key][0], two[key][0], names), key[3], key[4], one[key][1], two[key][1]
        )
        for key in one.keys() & two.keys()
    ]
    return ComparedRuns(
        gaps=tuple(sorted(gaps, key=_order)),
        only_before=len(one.keys() - two.keys()),
        only_after=len(two.keys() - one.keys()),
    )


def compared_table(found: ComparedRuns, most: int | None = None) -> PageTable:
    """Return a row for each comparison."""
    columns = (
        *(PageColumn(title, name=True) for title in ("number", "groups", "model")),
        PageColumn("gap before", numeric=True),
        PageColumn("gap after", numeric=True),
        PageColumn("moved by", numeric=True),
        PageColumn("intervals"),
        PageColumn("verdict before"),
        PageColumn("verdict after"),
    )
    rows = [
        (
            words_cell(each.what),
            words_cell(each.groups),
            words_cell(each.model),
            _gap_cell(each.before),
            _gap_cell(each.after),
            number_cell(each.moved),
            words_cell(each.intervals, chip="raised" if each.apart else None),
            _verdict_cell(each.before),
            _verdict_cell(each.after),
        )
        for each in found.gaps[:most]
    ]
    return PageTable("Two runs side by side", columns, tuple(rows))


def _by_key(diagnoses: Sequence[Diagnosis], *, by_model: bool) -> dict[Key, tuple[Diagnosis, Gap]]:
    return {
        (
            each.target if by_model else "",
            each.scaffold,
            each.extractor,
            f"{each.feature.replace('_', ' ')} by {each.dimension.replace('_', ' ')}",
            f"{gap.a} less {gap.b}",
        ): (each, gap)
        for each in diagnoses
        for gap in each.gaps
    }


def _models(one: Diagnosis, two: Diagnosis, names: ModelNames) -> str:
    both = one.target if one.target == two.target else f"{one.target}, then {two.target}"
    return names.of(one, both)


def _order(each: ComparedGap) -> tuple[bool, bool, float, str, str]:
    same = each.before.verdict is each.after.verdict
    return not each.apart, same, -abs(each.moved or 0.0), each.what, each.groups


def _found(gap: Gap) -> bool:
    return gap.verdict is Verdict.DISPARITY


def _gap_cell(gap: Gap) -> PageCell:
    it = gap.gap
    return PageCell(interval(it.value, it.low, it.high, it.reason), it.value)


def _verdict_cell(gap: Gap) -> PageCell:
    return PageCell(gap.verdict.replace("_", " "), gap.verdict.value, chip=gap.verdict.value)
