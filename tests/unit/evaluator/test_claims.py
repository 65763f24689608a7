"""Slots and claims of 200 random subjects: digits, truth, turned claims, fixed sentences."""

import math
import random
from functools import cache

from scipy.stats import fisher_exact

from biaswatch.services.evaluator.domain.writing.board import board_draft
from biaswatch.services.evaluator.domain.writing.claims import TypedClaim, right_claims, turned
from biaswatch.services.evaluator.domain.writing.draft import Sentence, render
from biaswatch.services.evaluator.domain.writing.draft_faults import sentence_faults
from biaswatch.services.evaluator.domain.writing.outline import ReportSection
from biaswatch.services.evaluator.domain.writing.prompt import writing_prompt
from biaswatch.services.evaluator.domain.writing.slots import rendered, slots_of
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.shared.contracts import Subject
from tests.support.report_subjects import gap, table

SUBJECTS = 200
PROFILE = load_rubric().profiles["general"]
ANYWHERE = ReportSection(5, "Anywhere", 1, 99)


@cache
def random_subjects() -> list[Subject]:
    draw = random.Random(44)
    return [
        random_table(draw) if draw.random() < 0.7 else random_gap(draw) for _ in range(SUBJECTS)
    ]


def random_table(draw: random.Random) -> Subject:
    most = draw.choice((8, 40, 300))
    counts = tuple(draw.randrange(0 if draw.random() < 0.1 else 1, most) for _ in range(4))
    a, b, c, d = counts[0], counts[1] + 1, counts[2], counts[3] + 1
    strata = random_strata(draw) if draw.random() < 0.3 else ()
    if strata:
        a, b, c, d = (sum(stratum[i] for stratum in strata) for i in range(4))
    return table((a, b, c, d), ("men", "women"), "admission", "admitted", strata)


def random_strata(draw: random.Random) -> tuple[tuple[int, int, int, int], ...]:
    drawn = [[draw.randrange(3, 60) for _ in range(4)] for _ in range(3)]
    return tuple((a, b, c, d) for a, b, c, d in drawn)


def random_gap(draw: random.Random) -> Subject:
    value, width = draw.gauss(0, 0.3), abs(draw.gauss(0, 0.3)) + 0.01
    bounds = (value, value - width, value + width)
    effect = (value * 2, value * 2 - width, value * 2 + width)
    means = ((3 + value, 2.5 + value, 3.5 + value), (3.0, 2.5, 3.5))
    missing = (draw.randrange(3), draw.randrange(3))
    p_value = 0.2 if abs(value) < width else 0.01
    verdict = draw.choice(("disparity", "no_disparity", "inconclusive"))
    return gap(
        ("black", "white"), "rating", bounds, p_value, effect, means, 30, missing, 0.2, verdict
    )


def faults(text: str, claims: tuple[object, ...], subject: Subject) -> list[object]:
    sentence = Sentence(text, claims)  # type: ignore[arg-type]
    return list(sentence_faults(sentence, ANYWHERE, subject, PROFILE))


def test_fixed_sentences_of_right_claims_have_no_fault() -> None:
    for subject in random_subjects():
        for claim in right_claims(subject):
            assert faults(claim.sentence(subject), (claim,), subject) == []


def test_every_claim_turned_wrong_is_found() -> None:
    count = 0
    for subject in random_subjects():
        for claim in right_claims(subject):
            for wrong in turned(claim, subject):
                assert faults(wrong.sentence(subject), (wrong,), subject)
                count += 1
    assert count > 10 * SUBJECTS


def test_claims_are_right_by_independent_arithmetic() -> None:
    for subject in random_subjects():
        claims = right_claims(subject)
        if not subject.counts:
            continue
        a, b, c, d = subject.counts
        first, second = a * (c + d), c * (a + b)
        higher = "neither" if first == second else "men" if first > second else "women"
        assert TypedClaim("direction", "risk_difference", higher) in claims
        significant = "yes" if fisher_exact([[a, b], [c, d]]).pvalue <= 0.05 else "no"
        if any(m.name == "fisher" and m.p_value is not None for m in subject.measures):
            assert TypedClaim("significance", "fisher", significant) in claims
        if min(subject.counts):
            spread = 1.959964 * math.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
            inside = "yes" if abs(math.log(a * d / (b * c))) <= spread else "no"
            assert TypedClaim("interval", "odds_ratio", inside) in claims


def test_slots_have_the_digits_of_the_subject() -> None:
    for subject in random_subjects():
        slots = slots_of(subject)
        for measure in subject.measures:
            if f"{measure.name}.estimate" in slots and measure.value is not None:
                text = slots[f"{measure.name}.estimate"]
                assert math.isclose(float(text), measure.value, abs_tol=0.000501, rel_tol=0.006)
        if subject.counts:
            a, b, *_ = subject.counts
            assert slots["groups.men.share"] == f"{round(100 * a / (a + b), 1):.1f}%"
            assert slots["groups.men.with"] == str(a)


def test_the_report_for_a_board_has_no_fault_and_no_open_slot() -> None:
    for subject in random_subjects():
        draft = board_draft(subject)
        for section in draft.sections:
            for sentence in section.sentences:
                assert faults(sentence.text, sentence.claims, subject) == []
        assert "{" not in str(render(draft, subject, {}).text)


def test_a_label_may_hold_anything() -> None:
    for one, two in (("a, b", "c"), ("30-40", "{x}"), ("\u7537", "\u5973"), ("A", "a")):
        subject = table((30, 70, 20, 80), (one, two), "loan, small", "granted")
        text = str(render(board_draft(subject), subject, {}).text)
        assert f"compares {one} and {two}" in text
        assert len(slots_of(subject)) > 40


def test_what_a_writer_may_not_do_is_a_fault_of_its_kind() -> None:
    subject = table((60, 140, 30, 170), ("men", "women"), "sentence", "third strike")
    cases = {
        "The odds ratio is 2.429.": "number",
        "Three in ten received it.": "number",
        "The share is \u00bd.": "number",
        "The estimate is {odds_ratio.middle}.": "slot",
        "The estimate is {odds_ratio.estimate.": "slot",
        "The result is significant.": "undeclared",
        "{groups.men.name} receive it more often.": "undeclared",
        "The interval contains the value of no difference.": "undeclared",
        "Within strata it vanishes.": "undeclared",
        "The outcome is due to prejudice.": "cause",
        "They are by nature unsuited.": "attribution",
        "no capital letter": "structure",
    }
    for text, kind in cases.items():
        assert kind in {fault.kind for fault in faults(text, (), subject)}, text  # type: ignore[attr-defined]


def test_a_fault_shows_readers_no_words_of_the_model() -> None:
    subject = table((60, 140, 30, 170), ("men", "women"), "sentence", "third strike")
    [fault] = faults("The estimate is {nine.99}.", (), subject)
    assert "99" not in fault.message  # type: ignore[attr-defined]
    assert fault.quote == "nine.99"  # type: ignore[attr-defined]
    assert rendered("{nine.99}", slots_of(subject)) == "{nine.99}"


def test_the_request_to_a_writer_leaves_room_for_the_answer_of_a_small_model() -> None:
    subject = table((60, 140, 30, 170), ("men", "women"), "sentence", "third strike")
    assert len(writing_prompt(subject, PROFILE)) < 4600  # 1,300 tokens of SmolLM2
