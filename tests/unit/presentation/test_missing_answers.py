"""The reason for which most answers are missing, with its remedy."""

import pytest

from biaswatch.shared.contracts import Diagnosis, Estimate, GroupSummary
from biaswatch.shared.presentation.columns import Shown
from biaswatch.shared.presentation.conclusions import reservation_notes
from biaswatch.shared.presentation.finding_tables import findings_table
from biaswatch.shared.presentation.findings import group_rows
from biaswatch.shared.presentation.group_columns import GROUP_COLUMNS
from biaswatch.shared.presentation.run_summary import mostly_missing, without_calls
from tests.support.records import AT


def diagnosis(
    reasons: dict[str, int],
    target: str = "local:m?max_tokens=160",
    feature: str = "rating",
    extractor: str = "rating",
    mean: float | None = None,
) -> Diagnosis:
    groups = tuple(
        GroupSummary(
            group=name,
            responses=20,
            missing=sum(reasons.values()),
            missing_reasons=reasons,
            reservations={"cut_off": 3, "constrained": 1},
            units=20 - sum(reasons.values()),
            mean=Estimate(mean, reason="none"),
        )
        for name in ("a", "b")
    )
    return Diagnosis(
        at=AT,
        run_id="1" * 32,
        completion_id="2" * 32,
        target=target,
        scaffold="direct",
        extractor=extractor,
        feature=feature,
        dimension="race",
        alpha=0.05,
        tolerance=0.0,
        family=1,
        claim="the population",
        groups=groups,
        gaps=(),
    )


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("local:m?max_tokens=160", "30 of 40 answers were cut off at max_tokens=160: raise it"),
        ("openai:m?max_completion_tokens=9", "cut off at max_completion_tokens=9: raise it"),
        ("openai:m", "were cut off at their limit of tokens: raise it"),
    ],
)
def test_answers_cut_off_name_the_limit(target: str, sentence: str) -> None:
    assert sentence in str(mostly_missing([diagnosis({"no answer: truncated": 15}, target)]))


def test_unreadable_answers_name_the_scaffold_with_a_schema() -> None:
    missing = mostly_missing([diagnosis({"no rating": 11, "several ratings": 2})])
    assert missing is not None
    assert missing.startswith("22 of 40 answers state no rating: ask with the scaffold direct-sch")


@pytest.mark.parametrize("reasons", [{}, {"no rating": 10}, {"no rating": 8, "timeout": 8}])
def test_half_of_the_answers_or_two_reasons_are_not_one_reason(reasons: dict[str, int]) -> None:
    assert mostly_missing([diagnosis(reasons)]) is None


def test_a_target_with_another_measured_feature_is_measured() -> None:
    rows = [diagnosis({"no rating": 20}), diagnosis({}, feature="words")]
    assert mostly_missing(rows) is None
    assert mostly_missing([*rows, diagnosis({"no rating": 20}, "openai:other")]) is not None


def test_a_target_without_calls_of_tools_may_leave_them_out_of_requests() -> None:
    def calls(target: str, feature: str, mean: float) -> Diagnosis:
        return diagnosis({}, target, feature, "steps", mean)

    rows = [calls("openai:deaf", name, 0) for name in ("called@approve", "escalated", "steps")]
    rows += [calls("openai:m", "called@approve", 0), calls("openai:m", "escalated", 0.5)]
    (sentence,) = without_calls([*rows, calls("openai:deaf", "refused", 1), diagnosis({})])
    assert sentence.startswith(
        "No answer of openai:deaf has a measured call of a tool (called@approve, escalated, steps)."
    )


def test_numbers_with_a_reservation_are_counted_apart() -> None:
    notes = list(reservation_notes(diagnosis({"no rating": 5})))
    assert [note.split(":")[1].split(" are")[0] for note in notes] == [
        " 6 (20 %) of 30 numbers",
        " 2 (7 %) of 30 numbers",
    ]


def test_a_table_of_groups_shows_how_many_numbers_needed_a_schema() -> None:
    rows = group_rows([diagnosis({"no rating": 5})])
    table = findings_table(GROUP_COLUMNS, rows, Shown.TERMINAL)
    column = [heading.title for heading in table.columns].index("under schema")
    assert [row[column].text for row in table.rows] == ["1 (7 %)", "1 (7 %)"]
