"""Tables of a monitor: titles, history, ranges of time."""

from datetime import timedelta

from biaswatch.shared.contracts import comparison_titles
from biaswatch.shared.contracts.comparison import MISSING
from biaswatch.shared.presentation.monitor_tables import (
    alarm_end_sentence,
    evidence_table,
    histories_since,
    history_table,
    unanswered_sentence,
)
from biaswatch.shared.requests.evidence import evidence_view
from biaswatch.shared.requests.monitor_views import histories_of
from tests.support.records import AT, make_evidence
from tests.support.records.monitoring import make_plan


def test_every_comparison_has_a_title_of_its_own_in_words() -> None:
    titles = comparison_titles(make_plan())
    assert len(set(titles.values())) == len(titles)
    assert all(" minus " in title and ":" in title for title in titles.values())
    assert any(title.startswith("answers without a ") for title in titles.values())


def test_a_round_of_traffic_is_shown_when_its_window_ended() -> None:
    history = histories_of([make_evidence(round=n) for n in range(2)])
    ends = {n: AT + timedelta(hours=n + 1) for n in range(2)}
    [history_] = histories_since(history, ends, None)
    assert [point.at - AT for point in history_.moments] == [timedelta(hours=n) for n in (1, 2)]


def test_a_range_cuts_what_is_older_and_never_leaves_one_round_alone() -> None:
    history = histories_of([make_evidence(round=n, at=AT + timedelta(days=n)) for n in range(5)])
    [recent] = histories_since(history, {}, AT + timedelta(days=2))
    assert [point.round for point in recent.moments] == [2, 3, 4]
    [whole] = histories_since(history, {}, AT + timedelta(days=9))
    assert len(whole.moments) == 5


def test_the_table_names_comparisons_by_their_titles() -> None:
    evidence = evidence_view(make_evidence(), stands_out=True)
    table = evidence_table("m", [evidence], {evidence.comparison: "in words"})
    assert table.rows[0][0].text == "in words"
    assert table.rows[0][0].note == "stands out now"
    assert len(table.rows[0]) == len(table.columns)


def test_comparisons_of_missing_answers_are_told_apart_from_the_drawn_ones() -> None:
    measured = evidence_view(make_evidence(), stands_out=False)
    missing = measured.model_copy(update={"number": f"words.{MISSING}"})
    sentence = unanswered_sentence([measured, missing, missing])
    assert sentence.startswith("Not drawn: 2 comparisons of the shares of missing answers")
    assert "(inconclusive in 2)" in sentence
    assert not unanswered_sentence([measured])


def test_an_ended_monitor_promises_no_end_of_its_alarm() -> None:
    evidence = evidence_view(make_evidence(reason="the alarm is over once"), stands_out=False)
    assert alarm_end_sentence(evidence, "words", ended=False) == "words: the alarm is over once."
    assert "the alarm stays raised" in alarm_end_sentence(evidence, "words", ended=True)


def test_the_file_has_a_line_for_each_round() -> None:
    history = histories_of([make_evidence(round=n) for n in range(3)])
    assert len(history_table(history, {}).rows) == 3
