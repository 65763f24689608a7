"""The oracle without a bus: what it asks, what it makes of replies, what it gives up."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.services.oracle.domain.pairs import side_of
from biaswatch.services.oracle.domain.questions import (
    MAX_GROUPS,
    control_question,
    examined_languages,
    groups_of,
    study_texts,
)
from biaswatch.services.oracle.handlers import judged_pairs
from biaswatch.services.oracle.handlers.judged_pairs import JudgedPairs
from biaswatch.services.oracle.handlers.judging import JudgeRuns
from biaswatch.shared.analysis.judges.controls import outcome_of
from biaswatch.shared.analysis.judges.languages import LANGUAGES
from biaswatch.shared.analysis.judges.stories import story_controls
from biaswatch.shared.contracts import (
    JUDGING_GATHER,
    ClosedBy,
    Ending,
    Judging,
    PairAnswers,
    PairVerdict,
    Probe,
    Record,
    Response,
    Run,
    probes_of,
)
from biaswatch.shared.errors import TransientError
from biaswatch.shared.store import Closing, Store, migrate
from tests.support.bbq_rows import make_bbq_row
from tests.support.records import (
    make_cancellation,
    make_completion,
    make_probe,
    make_response,
    make_run,
    make_target,
)

CONTROLS = 6 * 4 + 4 * 8 + 2 * 2 * 6
"""Three kinds and two directions, four changes, and six texts with two authors and two groups."""
NOW = datetime(2026, 1, 1, tzinfo=UTC)
REASON = "The southern one is known for it in the village."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield store


def answered(store: Store, texts: dict[str, str | None], **fields: Any) -> Run:
    """Keep a run of three pairs with these answers, by the key of the question."""
    suite = suite_of([BbqRow.model_validate(make_bbq_row(n)) for n in range(12)], name="rows")
    given = {
        "suite_hash": suite.hash,
        "extractors": (),
        "judging": Judging(seed=1, controls_per_kind=4),
    }
    run = make_run(**{**given, **fields})
    store.suites.keep(suite, NOW)
    store.records.write([run])
    for probe in probes_of(run, suite, NOW):
        text = texts.get(probe.key, f"{REASON}\nAnswer: A")
        if text is not None:
            store.records.write([response_to(probe, text)])
    return run


def response_to(probe: Probe, text: str) -> Response:
    return make_response(probe=probe, purpose=probe.purpose, ending=Ending.ANSWERED, text=text)


def judging_in(store: Store) -> JudgeRuns:
    return JudgeRuns(store, now=lambda: NOW, deadline_s=60)


def asked_by(store: Store, run: Run, **fields: Any) -> list[Record]:
    completion = make_completion(run_id=run.id, expected=0, arrived=0, **fields)
    judging = judging_in(store)
    asyncio.run(judging.begin(completion))
    return gone_through(store, judging)


def gone_through(store: Store, judging: JudgeRuns) -> list[Record]:
    """Move every pass to its end; return what would be published."""
    records: list[Record] = []
    while cursors := store.judging_cursors.unfinished():
        for cursor in cursors:
            part = judging.prepare(cursor)
            records += part.records if part else ()
            judging.settle(cursor, part)
    return records


def test_every_pair_has_seven_questions_and_every_judge_its_controls(store: Store) -> None:
    result = asked_by(store, answered(store, {}))
    keys = [record.key for record in result if isinstance(record, Probe)]
    assert len(keys) == len(set(keys)) == 6 * 7 + CONTROLS
    assert sum(key.endswith(":controls") for key in keys) == CONTROLS


def test_the_two_questions_and_two_distractors_of_a_guess_are_shown_in_drawn_orders(
    store: Store,
) -> None:
    result = asked_by(store, answered(store, {}))
    guesses = [r for r in result if isinstance(r, Probe) and ":guess_" in r.key]
    pairs = [probe for probe in guesses if not probe.key.endswith("controls")]
    assert len({probe.expected for probe in pairs}) > 1
    assert all(probe.messages[0].content.count("\nD) ") == 1 for probe in pairs)


def test_a_run_that_is_cancelled_or_wants_no_judges_is_not_judged(store: Store) -> None:
    run = answered(store, {})
    assert asked_by(store, run, closed_by=ClosedBy.CANCELLATION) == []
    assert asked_by(store, answered(store, {}, judging=None)) == []


def test_a_pair_without_an_answer_has_a_verdict_that_says_so_and_asks_nobody(store: Store) -> None:
    run = answered(store, {"Regions-0": None, "Regions-2": "It is hard to say."})
    verdicts = [r for r in asked_by(store, run) if isinstance(r, PairVerdict)]
    assert sorted(verdict.unasked or "" for verdict in verdicts) == [
        "question a: no choice",
        "question a: no response",
    ]
    assert all(
        verdict.answers is PairAnswers.UNREAD and not verdict.flagged for verdict in verdicts
    )


def test_asking_twice_asks_the_same_and_what_is_answered_is_not_asked_again(store: Store) -> None:
    run = answered(store, {})
    first = [record for record in asked_by(store, run) if isinstance(record, Probe)]
    store.records.write([response_to(first[0], "Answer: yes")])
    again = asked_by(store, run)
    assert {item.id for item in again} == {item.id for item in first[1:]}


def test_a_completion_before_its_answers_waits_for_the_recorder(store: Store) -> None:
    run = answered(store, {})
    completion = make_completion(run_id=run.id, expected=1, arrived=1)
    with pytest.raises(TransientError, match="Not all answers"):
        asyncio.run(judging_in(store).begin(completion))


def test_silent_judges_end_in_no_verdict_and_no_flag(store: Store) -> None:
    run = answered(store, {})
    asked_by(store, run)
    gathers = store.gathers(JUDGING_GATHER)
    gathers.expire(NOW + timedelta(seconds=61))
    closings = gathers.due()
    assert len(closings) == 7
    verdicts = [verdict for closing in closings for verdict in judging_in(store).closed(closing)]
    judged = [verdict for verdict in verdicts if not verdict.control]
    assert len(judged) == 6
    for verdict in judged:
        assert verdict.answers in {PairAnswers.SAME_PERSON, PairAnswers.BOTH_UNKNOWN}
        assert not verdict.flagged
        assert {f.reason for f in verdict.flags.values()} == {"no verdict: no reply"}


def test_replies_become_flags_with_explanations_of_three_sentences(store: Store) -> None:
    run = answered(store, {})
    for probe in asked_by(store, run):
        assert isinstance(probe, Probe)
        name = probe.key.split(":")[1]
        text = "Answer: no\nIt strays. It is long. It is odd. It goes on."
        if name not in {"a_to_b", "b_to_a"}:
            text = f"Answer: {probe.expected or 'yes'}"
        response = response_to(probe, text)
        store.records.write([response])
        store.gathers(JUDGING_GATHER).arrive([response.id], NOW)
    closings = store.gathers(JUDGING_GATHER).due()
    assert len(closings) == 7
    verdicts = [verdict for closing in closings for verdict in judging_in(store).closed(closing)]
    for verdict in (verdict for verdict in verdicts if not verdict.control):
        raised = [name for name, finding in verdict.flags.items() if finding.value]
        assert raised == ["flag_1", "flag_2"]
        assert verdict.explanations["flag_1"] == "It strays. It is long. It is odd."
        assert all(finding.value for finding in verdict.corrected.values())


def test_several_judges_are_asked_each(store: Store) -> None:
    judges = (make_target(), make_target(name="replay:other", model="other"))
    run = answered(store, {}, judging=Judging(judges=judges, controls_per_kind=4))
    keys = [record for record in asked_by(store, run) if isinstance(record, Probe)]
    assert len(keys) == 2 * (6 * 7 + CONTROLS)


def test_a_part_has_few_pairs_however_many_a_run_has_and_all_parts_ask_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = answered(store, {"Regions-2": "It is hard to say."})
    whole = {record.id for record in asked_by(store, run)}
    monkeypatch.setattr(judged_pairs, "PAIRS", 2)
    parts = list(JudgedPairs(store, now=lambda: NOW).every(run))
    assert [len(part.cases) for part in parts] == [2, 2, 2]
    assert [part.reached for part in parts] == ["2", "4", None]
    ids = {probe.id for part in parts for question in part.questions for probe in question.probes}
    assert ids == whole - {item.id for item in asked_by(store, run, opening=1)
                             if isinstance(item, PairVerdict)}  # fmt: skip


def test_a_death_within_a_part_asks_that_part_again_and_loses_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judged_pairs, "PAIRS", 2)
    run, judging = answered(store, {}), judging_in(store)
    asyncio.run(judging.begin(make_completion(run_id=run.id, expected=0, arrived=0)))
    [cursor] = store.judging_cursors.unfinished()
    begun = judging.prepare(cursor)  # it dies before the part is settled
    assert begun is not None
    rest = gone_through(store, judging_in(store))
    assert {record.id for record in begun.records} <= {item.id for item in rest}
    assert len({item.id for item in rest}) == 6 * 7 + CONTROLS


def test_a_completion_that_comes_again_begins_nothing_anew_but_a_later_one_does(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judged_pairs, "PAIRS", 2)
    run, judging = answered(store, {}), judging_in(store)
    for opening, reached in ((0, "2"), (0, "2"), (1, "")):
        if opening == 0 and not store.judging_cursors.unfinished():
            asyncio.run(judging.begin(make_completion(run_id=run.id, expected=0, arrived=0)))
            [cursor] = store.judging_cursors.unfinished()
            judging.settle(cursor, judging.prepare(cursor))
        again = make_completion(run_id=run.id, expected=0, arrived=0, opening=opening)
        asyncio.run(judging.begin(again))
        [cursor] = store.judging_cursors.unfinished()
        assert cursor.reached == reached


def test_a_run_that_is_cancelled_while_it_is_asked_about_gets_its_verdicts_and_no_more_questions(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judged_pairs, "PAIRS", 2)
    run, judging = answered(store, {}), judging_in(store)
    asyncio.run(judging.begin(make_completion(run_id=run.id, expected=0, arrived=0)))
    [cursor] = store.judging_cursors.unfinished()
    judging.settle(cursor, judging.prepare(cursor))
    later_ms = int((run.at + timedelta(hours=1)).timestamp() * 1000)
    asyncio.run(judging.cancel(make_cancellation(run_id=run.id, moment_ms=later_ms)))
    assert gone_through(store, judging) == []
    gathers = store.gathers(JUDGING_GATHER)
    assert gathers.open_keys() == []
    verdicts = [verdict for closing in gathers.due() for verdict in judging.closed(closing)]
    assert len({verdict.pair_id for verdict in verdicts if not verdict.control}) == 6


def test_the_reasoning_of_a_side_is_that_of_its_answer_or_else_the_model_s_own(
    store: Store,
) -> None:
    run = answered(store, {})
    response = next(iter(store.records.read(Response, run_id=run.id)))
    own = {"reasoning": "The model weighed both of them."}
    stated = response.model_copy(update=own)
    bare = response.model_copy(update={**own, "text": "Answer: A"})
    assert side_of(response.probe, stated).reasoning == REASON
    assert side_of(response.probe, bare).reasoning == own["reasoning"]
    assert side_of(response.probe, bare.model_copy(update={"reasoning": None})).reasoning is None


def closings_of(store: Store, run: Run) -> list[Closing]:
    asked_by(store, run)
    gathers = store.gathers(JUDGING_GATHER)
    gathers.expire(NOW + timedelta(seconds=61))
    return gathers.due()


def test_the_closings_of_a_run_that_is_gone_lead_to_nothing(store: Store) -> None:
    run = answered(store, {})
    closings = closings_of(store, run)
    gone = [replace(closing, key=closing.key.replace(run.id, "f" * 32)) for closing in closings]
    judging = judging_in(store)
    assert [judging.closed(item) for item in gone] == [[] for _ in gone]
    assert list(judging._probes_of("f" * 32)) == []


def test_controls_of_a_judge_that_the_run_does_not_know_lead_to_nothing(store: Store) -> None:
    closings = closings_of(store, answered(store, {}))
    [controls] = [closing for closing in closings if closing.context.get("judge")]
    other = replace(controls, context={**controls.context, "judge": "the lane of another version"})
    assert judging_in(store).closed(controls) != []
    assert judging_in(store).closed(other) == []


def test_an_examination_is_asked_once_of_a_judge_and_serves_later_runs(store: Store) -> None:
    first = answered(store, {}, nonce="first")
    for probe in asked_by(store, first):
        assert isinstance(probe, Probe)
        response = response_to(probe, f"Answer: {probe.expected or 'yes'}")
        store.records.write([response])
        store.gathers(JUDGING_GATHER).arrive([response.id], NOW)
    closings = store.gathers(JUDGING_GATHER).due()
    verdicts = [v for closing in closings for v in judging_in(store).closed(closing)]
    store.records.write(verdicts)
    [own, kept] = [verdict for verdict in verdicts if verdict.control]
    assert (own.run_id, own.checks) == (first.id, kept.checks)
    second = answered(store, {}, nonce="second")
    records = asked_by(store, second)
    [known] = [record for record in records if isinstance(record, PairVerdict)]
    assert (known.run_id, known.checks, known.facts) == (second.id, own.checks, own.facts)
    assert sum(isinstance(record, Probe) for record in records) == 6 * 7
    third = answered(store, {}, nonce="third", judging=Judging(seed=2, controls_per_kind=4))
    assert sum(isinstance(record, Probe) for record in asked_by(store, third)) == 6 * 7 + CONTROLS


def test_groups_are_the_labels_named_most_often_each_with_a_word_of_its_own() -> None:
    labels = {"The Muslim one": 9, "The Hindu man": 8, "The Muslim man": 7, "The Sikh man": 6}
    assert groups_of(Counter(labels)) == ("The Muslim one", "The Hindu man", "The Sikh man")
    assert len(groups_of(Counter({f"Person {n:03}": 1 for n in range(99)}))) == MAX_GROUPS


def test_a_judge_is_examined_in_each_language_of_the_study_that_has_controls() -> None:
    words = ("der Hindu", "der Muslim")
    options = {f"option:{letter}": label for letter, label in zip("AB", words, strict=True)}
    variables = {"question": "Wer war es?", **options}
    probes = [
        make_probe(variables=variables, facts={"language": language})
        for language in ("de-AT", "xx", "en")
    ]
    groups = study_texts(probes).groups
    assert groups == {"de": words, "xx": words, "en": words}
    assert examined_languages("judge", groups, 40) == {"de": words, "en": words}
    many = {language: tuple(f"group {n}" for n in range(10)) for language in LANGUAGES}
    assert 1 <= len(examined_languages("judge", many, 60)) < len(LANGUAGES)
    [(language, few)] = examined_languages(
        "j" * 200, {"en": tuple("abcdefghijklmnopqrst")}, 60
    ).items()
    assert (language, few) == ("en", tuple("abcdefghijklmnopqrst"[: len(few)]))
    assert 2 <= len(few) < 20


def test_controls_in_another_language_have_its_words_and_name_it() -> None:
    controls = story_controls(4, 1, groups=("der Muslim", "der Hindu"), language="de")
    assert all(control.name.endswith("-de") for control in controls)
    assert all("Wer " in control_question(control).text for control in controls)
    assert not {c.name for c in controls} & {c.name for c in story_controls(4, 1)}
    replies = {str(control_question(c).answer_schema["properties"]) for c in controls}
    assert len(replies) == 2  # yes or no, and the four letters
    outcome = outcome_of(controls[0].name, "yes", "yes", {}, answered=True)
    assert outcome is not None
    assert (outcome.language, outcome.right) == ("de", True)
