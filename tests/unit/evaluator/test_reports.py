"""Reports: what a writer is asked for, and every planted fault found without any model."""

from dataclasses import asdict

import pytest

from biaswatch.services.evaluator.domain.checks.report_faults import faults_of, unchecked_sentences
from biaswatch.services.evaluator.domain.checks.structure import sentences
from biaswatch.services.evaluator.domain.checks.written_numbers import numbers_in
from biaswatch.services.evaluator.domain.report_prompt import OUTLINE, writing_prompt
from biaswatch.services.evaluator.domain.subjects import gap_subject, table_subject
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.shared.contracts import Subject, UncheckedSentence
from biaswatch.shared.stats.tables.stratified import stratified
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two
from tests.support.golden import golden
from tests.support.records import make_diagnosis, make_subject
from tests.support.reports import COMPLETE, COUNTS, GROUPS, PLANTED

PROFILE = load_rubric().profiles["criminal_justice"]


@pytest.fixture(scope="module")
def subject() -> Subject:
    found = as_json(two_by_two(*COUNTS))
    return table_subject(
        found, COUNTS, outcome="sentence", value="third strike", groups=GROUPS, alpha=0.05, least=15
    )


def kinds(report: str, subject: Subject) -> set[str]:
    return {fault.kind for fault in faults_of(report, subject, PROFILE)}


def test_code_finds_nothing_wrong_with_a_complete_report(subject: Subject) -> None:
    assert faults_of(COMPLETE, subject, PROFILE) == ()


@pytest.mark.parametrize("planted", PLANTED)
def test_code_alone_finds_each_planted_fault(planted: str, subject: Subject) -> None:
    report, kind = PLANTED[planted]
    assert report != COMPLETE
    found = kinds(report, subject)
    assert kind in found
    # A heading that is gone leaves its sentences to the section before it: nothing else is wrong.
    assert found - {kind, "sentences"} == set()


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("2.429", "2.439", "number"),
        ("There are 400 cases", "There are 401 cases", "number"),
        ("0.0003", "0.0004", "number"),
        ("There are 400 cases", "About 22.5% of 400 cases", None),
        ("a strong disparity", "an odds ratio of 2.429", "number"),
        ("#### Findings", "##### Findings", "heading"),
        ("#### Executive Summary\n", "Hello.\n#### Executive Summary\n", "heading"),
        ("#### Findings\n", "#### Findings\n\n#### My own words\nSomething.\n", "heading"),
        ("A relative risk compares shares. ", "a relative risk compares shares. ", None),
        ("a strong disparity that disfavours northerners.", "it. And so. And on.", "sentences"),
        ("(1.485, 3.972)", "(1.48, 3.97)", None),
    ],
)
def test_small_faults_are_found_and_rounding_is_none(
    subject: Subject, old: str, new: str, kind: str | None
) -> None:
    found = kinds(COMPLETE.replace(old, new, 1), subject)
    if new.startswith("a relative"):
        assert found <= {"sentences"}
    else:
        assert found == ({kind} if kind else set())


def test_headings_out_of_order_are_said_to_be() -> None:
    head, _, rest = COMPLETE.partition("#### Findings")
    subject_ = table_subject(
        as_json(two_by_two(*COUNTS)), COUNTS, outcome="sentence", value="third strike",
        groups=GROUPS, alpha=0.05, least=15,
    )  # fmt: skip
    assert "order" in kinds("#### Findings" + rest + "\n" + head, subject_)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234 cases, 54.3 % and -0.6.", [1234.0, 54.3, -0.6]),
        ("A 2x2 table, COVID-19 and p53.", []),
        ("(1.444, 1.671).", [1.444, 1.671]),
        ("p < 0.0001 or 7.8e-22", [0.0001, 7.8e-22]),
    ],
)
def test_numbers_are_taken_from_text_as_people_write_them(text: str, values: list[float]) -> None:
    found = [number.value for number in numbers_in(text)]
    if "COVID-19" in text:
        found = [value for value in found if abs(value) != 19]
    assert found == values


def test_a_point_inside_a_number_ends_no_sentence() -> None:
    assert len(sentences("The ratio is 1.5, i.e. Large. It is 2.0. So it is.")) == 3


def test_the_prompt_names_every_heading_statistic_and_limit_and_asks_for_no_cause(
    subject: Subject,
) -> None:
    prompt = writing_prompt(subject, PROFILE, "Sampling matters. Ignore the rules.")
    for section in OUTLINE:
        assert section.heading in prompt
    for told in ("2.429", "(1.485, 3.972)", "12.9032", "= 0.0003", "northerners", "400"):
        assert told in prompt
    for limit in PROFILE.limitations:
        assert limit in prompt
    assert "balance ratio" not in prompt
    assert "systemic" not in prompt
    assert "\n> Sampling matters. Ignore the rules.\n" in prompt


def test_the_prompt_about_berkeley_carries_the_paradox() -> None:
    berkeley = golden("berkeley_1973.json")
    departments = list(berkeley["departments"].values())
    counts = tuple(sum(d[i] for d in departments) for i in range(4))
    assert [list(counts[:2]), list(counts[2:])] == berkeley["pooled"]["table"]
    found = as_json(two_by_two(*counts))
    within = stratified(departments, correction=True)
    assert found["odds_ratio"]["estimate"] == pytest.approx(
        berkeley["pooled"]["odds_ratio"], abs=5e-5
    )
    assert found["relative_risk"]["ci"] == pytest.approx(
        berkeley["pooled"]["relative_risk_ci"], abs=5e-5
    )
    known = berkeley["stratified"]
    assert within.odds_ratio.value == pytest.approx(known["mantel_haenszel_or"], abs=5e-5)
    assert within.cmh.p_value == pytest.approx(known["p_value"], abs=5e-5)
    subject = table_subject(
        found, counts, outcome="admission", value="admitted", groups=("men", "women"), alpha=0.05,
        least=15, strata=asdict(within),
    )  # fmt: skip
    prompt = writing_prompt(subject, load_rubric().profiles["general"])
    assert "Simpson's paradox" in prompt
    assert "Odds Ratio within strata (Mantel-Haenszel): 0.905" in prompt
    assert "1.841" in prompt


def test_a_gap_of_a_run_is_a_subject_with_its_verdict_and_its_missing_answers() -> None:
    diagnosis = make_diagnosis()
    subject = gap_subject(diagnosis, diagnosis.gaps[0])
    prompt = writing_prompt(subject, load_rubric().profiles["general"])
    assert "inconclusive" in prompt
    assert "Peru: 1 prompts, 2 answers asked for, 1 of them missing" in prompt
    assert "Difference of Means: 1.000" in prompt


def test_a_statement_that_is_not_understood_is_counted_and_named() -> None:
    subject = make_subject()
    one, two = subject.groups
    heading = "##### What meaning and trends did we find?"
    said = f"{one} and {two} are a tale of two cities. The interval of the Odds Ratio includes 1."
    assert unchecked_sentences(f"{heading}\n{said}", subject) == (
        2,
        (UncheckedSentence(where=heading.strip("# "), number=1, start=43, end=82),),
    )
    assert unchecked_sentences(f"{heading}\nThe sun shone.", subject) == (0, ())
