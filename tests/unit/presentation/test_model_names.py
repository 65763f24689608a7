"""What rows call the model they are about, and that a plain question says so beside others."""

from biaswatch.local.runs import RunResults
from biaswatch.render.report_markdown import as_markdown
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.presentation.bias_scores import score_conclusions
from biaswatch.shared.presentation.comparison_tables import compared_runs, matrices_of
from biaswatch.shared.presentation.conclusions import strongest_conclusions
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.run_summary import run_summary
from tests.support.records import make_diagnosis, make_progress

SCAFFOLDS = ("direct", "chain_of_thought")


def diagnoses(*scaffolds: str) -> list[Diagnosis]:
    return [
        make_diagnosis().model_copy(update={"target": "m", "scaffold": each}) for each in scaffolds
    ]


def test_the_plain_question_is_named_only_beside_others() -> None:
    both = diagnoses(*SCAFFOLDS)
    assert [ModelNames.among(both).of(each) for each in both] == [
        "m, direct",
        "m, chain of thought",
    ]
    [alone] = diagnoses("direct")
    assert ModelNames.among([alone]).of(alone) == "m"


def test_the_page_of_a_run_names_how_each_row_was_asked() -> None:
    both = diagnoses(*SCAFFOLDS)
    summary = run_summary(both)
    rows = [*summary.within_tolerance, *summary.undecided]
    said = " ".join([*(each.model for each in summary.strongest), *(each.what for each in rows)])
    headings = [column.title for each in matrices_of(both) for column in each.columns]
    for name in ("m, direct", "m, chain of thought"):
        assert name in said
        assert name in headings


def test_two_runs_side_by_side_name_it_too() -> None:
    both = diagnoses(*SCAFFOLDS)
    models = {each.model for each in compared_runs(both, both).gaps}
    assert models == {"m, direct", "m, chain of thought"}


def test_the_terminal_and_the_report_name_it_too() -> None:
    both = diagnoses(*SCAFFOLDS)
    said, _ = strongest_conclusions(both)
    assert {each.partition(":")[0] for each in said} == {"m, direct", "m, chain of thought"}
    report = as_markdown(RunResults(run=make_progress(), diagnoses=both, assessments=[]), [])
    comparisons = report[report.index("Every comparison") :]
    assert "m, direct" in comparisons
    assert score_conclusions(None) == []
