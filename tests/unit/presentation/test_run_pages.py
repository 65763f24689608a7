"""What a run's page says and draws of its findings, without a store."""

from biaswatch.shared.contracts import Diagnosis, Estimate, Gap, GroupSummary, MissingTest, Verdict
from biaswatch.shared.presentation.columns import comparisons_table, groups_table
from biaswatch.shared.presentation.comparison_tables import matrices_of
from biaswatch.shared.presentation.plots import WIDTH, histogram_plot, means_plot
from biaswatch.shared.presentation.run_summary import run_summary
from biaswatch.shared.presentation.tables import csv_of
from tests.support.records import make_diagnosis

FOUND, NONE, OPEN = Verdict.DISPARITY, Verdict.NO_DISPARITY, Verdict.NOT_ENOUGH


def gap(a: str, verdict: Verdict, p: float | None, value: float = -0.5, b: str = "the rest") -> Gap:
    return Gap(
        a=a, b=b, gap=Estimate(value=value, low=value - 0.1, high=value + 0.1),
        p_value=p, p_adjusted=p, verdict=verdict, reason="too few",
    )  # fmt: skip


def group(name: str, mean: float, missing: int = 0) -> GroupSummary:
    return GroupSummary(
        group=name, responses=9, missing=missing, units=9,
        missing_reasons={"refused": missing} if missing else {},
        mean=Estimate(value=mean, low=mean - 1, high=mean + 1),
    )  # fmt: skip


def finding(*gaps: Gap, **fields: object) -> Diagnosis:
    given = {"gaps": gaps, "overall": None, "disparities": (), **fields}
    return make_diagnosis().model_copy(update=given)


def many(features: int, groups: int) -> list[Diagnosis]:
    gaps = tuple(gap(f"g{n:02}", OPEN, 0.5) for n in range(groups))
    return [finding(*gaps, feature=f"f{n}") for n in range(features)]


def test_disparities_come_first_then_what_is_least_like_chance() -> None:
    some = (gap("luck", OPEN, 0.9), gap("none", OPEN, None), gap("near", OPEN, 0.06))
    found = comparisons_table([finding(*some, gap("found", FOUND, 0.01))], "r")
    names = [row[0].text.split()[0] for row in found.rows]
    assert names == ["found", "near", "luck", "none"]


def test_two_hundred_undecided_comparisons_are_ten_lines() -> None:
    summary = run_summary(many(features=10, groups=21))
    assert (summary.comparisons, summary.strongest) == (210, [])
    assert [each.count for each in summary.undecided] == [21] * 10


def test_a_disparity_says_who_is_lower_and_by_how_much() -> None:
    [said] = run_summary([finding(gap("black", FOUND, 1e-9, b="white"))]).strongest
    assert (said.gap.a, said.amount, said.gap.b) == ("black", "0.5 lower", "white")
    assert (said.between, said.p) == ("0.4 and 0.6", "p < 0.0001")


def test_doubts_stand_with_the_disparity() -> None:
    doubted = gap("a", FOUND, 0.01).model_copy(update={"survives_missing": False})
    [said] = run_summary([finding(doubted)]).strongest
    assert said.doubts == ["the missing answers could undo it"]


def test_the_lead_says_what_missing_answers_could_undo_and_what_was_not_measured() -> None:
    doubted = gap("a", FOUND, 0.01, b="b").model_copy(update={"survives_missing": False})
    groups = (group("a", 1.0), group("b", 1.0), group("c", 1.0, 9))
    empty = gap("a", OPEN, None, b="c")
    assert run_summary([finding(doubted, empty, groups=groups)]).lead == (
        "1 of 2 comparisons shows a disparity, but the missing answers could undo it; not"
        " measured: 1."
    )
    open_ = run_summary([finding(gap("a", OPEN, 0.5, b="b"), empty, groups=groups)])
    assert open_.lead == (
        "None of 2 comparisons shows a disparity; not enough evidence: 1, not measured: 1."
    )
    assert [each.count for each in (*open_.undecided, *open_.unmeasured)] == [1, 1]
    assert open_.unmeasured[0].note == "0 of 9 answers about c gave a number (9 refused)"
    [matrix] = matrices_of([finding(doubted, groups=groups)])
    [cell] = matrix.rows[0][1]
    assert cell is not None
    assert "disparity, but the missing answers could undo it" in cell.title


def test_missing_answers_are_counted_once_whatever_the_groupings() -> None:
    groups = (group("a", 1.0, 3), group("b", 1.0, 1))
    tested = MissingTest(p_value=0.2)
    some = [
        finding(gap("a", OPEN, 0.5), groups=groups, dimension=name, missing=tested)
        for name in ("race", "gender")
    ]
    [said] = run_summary(some).missing
    assert (said.missing, said.requested, said.reasons) == (4, 18, "4 refused")
    assert said.differs == "by race p = 0.2, by gender p = 0.2"


def test_many_groups_and_numbers_are_one_matrix_with_a_cell_each() -> None:
    [matrix] = matrices_of(many(features=10, groups=21))
    assert (len(matrix.columns), len(matrix.rows)) == (10, 21)
    assert matrix.corner == "less the rest"
    assert all(len(cells) == 10 for _, cells in matrix.rows)


def test_many_models_of_one_number_stand_below_one_another() -> None:
    some = [finding(gap("a", OPEN, 0.5, b="b"), target=f"t{n}") for n in range(16)]
    [matrix] = matrices_of(some)
    assert (len(matrix.columns), len(matrix.rows)) == (1, 16)


def test_a_cell_tells_verdict_and_evidence_apart() -> None:
    gaps = (
        gap("found", FOUND, 0.0001), gap("strong", OPEN, 0.005, value=0.5), gap("none", NONE, 0.4),
        gap("weak", OPEN, 0.3),
    )  # fmt: skip
    [matrix] = matrices_of([finding(*gaps)])
    cells = {name.title: cells[0] for name, cells in matrix.rows}
    kinds = {name: cell.kind for name, cell in cells.items() if cell}
    assert kinds == {"found": "lower3 found", "strong": "higher2", "none": "", "weak": "weak"}
    assert cells["none"] is not None
    assert cells["none"].text.endswith("≈")


def test_means_are_ranked_on_one_axis_and_the_disparity_is_marked() -> None:
    groups = (group("high", 5.0), group("low", 1.0), group("middle", 3.0))
    plot = means_plot(finding(gap("low", FOUND, 0.001), groups=groups))
    assert plot is not None
    assert [(row.name, row.is_disparity) for row in plot.rows] == [
        ("low", True), ("middle", False), ("high", False),
    ]  # fmt: skip
    ends = [end for row in plot.rows for end in (row.low, row.value, row.high)]
    assert all(end is not None and 0 <= end <= WIDTH for end in ends)


def test_a_group_without_a_mean_is_not_drawn() -> None:
    nothing = GroupSummary(group="a", responses=2, missing=2, units=0, mean=Estimate(reason="x"))
    assert means_plot(finding(groups=(nothing,))) is None


def test_every_answer_of_a_group_is_in_one_bar() -> None:
    values = {"a": [1.0, 2.0, 2.0, 5.0], "b": [n / 10 for n in range(100)]}
    plot = histogram_plot(finding(), values)
    assert plot is not None
    by_name = {row.name: row for row in plot.rows}
    for name, some in values.items():
        assert sum(int(bar.title.split()[0]) for bar in by_name[name].bars) == len(some)


def test_ratings_have_a_bar_each_and_nothing_is_drawn_of_nothing() -> None:
    plot = histogram_plot(finding(), {"a": [1.0, 3.0, 3.0], "b": [3.0, 2.0]})
    assert plot is not None
    assert [len(row.bars) for row in plot.rows] == [2, 2]
    assert histogram_plot(finding(), {"a": []}) is None


def test_files_of_several_findings_say_which() -> None:
    some = [finding(gap("a", OPEN, 0.5), groups=(group("a", 1.0),), feature=f) for f in "xy"]
    assert csv_of(comparisons_table(some, "r")).startswith("model,scaffold,extractor,number")
    assert len(csv_of(groups_table(some, "r")).splitlines()) == 3
