"""Tables of the platform: two runs, traffic, runs, extractors."""

from datetime import timedelta

from biaswatch.shared.contracts import (
    AnswerAccounts,
    Diagnosis,
    Estimate,
    ExtractorStatus,
    Gap,
    Verdict,
    Window,
)
from biaswatch.shared.presentation.comparison_tables import compared_runs, compared_table
from biaswatch.shared.presentation.operation_tables import (
    TrafficSource,
    extractors_table,
    traffic_table,
)
from biaswatch.shared.presentation.overview import RunCost, runs_table
from biaswatch.shared.requests.evidence import WindowState, WindowView
from tests.support.records import AT, make_diagnosis, make_progress


def diagnosis(value: float, verdict: Verdict, target: str = "m") -> Diagnosis:
    gap = Gap(
        a="a", b="b", gap=Estimate(value=value, low=value - 0.1, high=value + 0.1), verdict=verdict
    )
    return make_diagnosis().model_copy(update={"gaps": (gap,), "target": target})


def window(hours: int, sent: int) -> WindowView:
    begins = AT + timedelta(hours=hours)
    return WindowView(
        window=Window(begins=begins, ends=begins + timedelta(hours=1)), run_id="0" * 32,
        state=WindowState.READ, sent=sent, accounts=None,
    )  # fmt: skip


def texts(table: object) -> list[str]:
    return [cell.text for cell in table.rows[0]]  # type: ignore[attr-defined]


def test_a_disparity_that_only_the_later_run_shows_is_counted() -> None:
    earlier, later = Verdict.INCONCLUSIVE, Verdict.DISPARITY
    both = compared_runs([diagnosis(0.1, earlier)], [diagnosis(0.9, later)])
    assert (both.new, both.gone, len(both.gaps)) == (1, 0, 1)
    assert both.gaps[0].intervals == "apart"


def test_two_single_models_are_compared() -> None:
    before, after = (diagnosis(0.1, Verdict.INCONCLUSIVE, name) for name in ("old", "new"))
    [gap] = compared_runs([before], [after]).gaps
    assert gap.model == "old, then new"
    assert gap.intervals == "meet"


def test_comparisons_of_one_run_alone_are_counted() -> None:
    other = diagnosis(0.1, Verdict.INCONCLUSIVE).model_copy(update={"feature": "another"})
    both = compared_runs([diagnosis(0.1, Verdict.INCONCLUSIVE)], [other])
    assert (both.gaps, both.only_before, both.only_after) == ((), 1, 1)
    assert compared_table(both).rows == ()


def test_shares_of_traffic_are_of_what_was_sent() -> None:
    accounts = AnswerAccounts(evidence=60, described=20, without_group=20, late=100)
    source = TrafficSource("m", "traffic:bot", "active", accounts, [window(1, 30), window(0, 10)])
    cells = texts(traffic_table([source]))
    assert cells[:8] == ["bot", "m", "active", "200", "20", "50 %", "0 %", "80 %"]


def test_a_source_without_answers_has_no_shares() -> None:
    source = TrafficSource("m", "traffic:bot", "active", AnswerAccounts(), [])
    assert texts(traffic_table([source]))[4:8] == ["-", "-", "-", "-"]


def test_a_run_whose_cost_is_unknown_has_none() -> None:
    run = make_progress()
    cells = texts(runs_table([run], {run.run_id: RunCost(tokens=1200, cost=0.0)}, {}))
    assert cells[6:8] == ["1,200", "-"]


def test_a_refused_extractor_is_in_trouble() -> None:
    status = ExtractorStatus("x", "1", ("y",), AT, refused="it breaks the contract")
    row = extractors_table([status]).rows[0]
    assert (row[-1].text, row[-1].chip) == ("it breaks the contract", "raised")
