"""What the simulator says depends on what is asked, and on nothing else."""

import itertools
import json
import statistics
from collections import Counter

import pytest
from pydantic import ValidationError

from biaswatch.services.oracle.domain.questions import fit_prompt, identification_prompt
from biaswatch.services.simulator.domain.judging import leads_to
from biaswatch.services.simulator.domain.planted_bias import (
    DEFAULT_MARKERS,
    DEFAULT_MODELS,
    ConditionalGaps,
    Faults,
    LaterGaps,
    PlantedModel,
    ReadingErrors,
    groups_in,
    truth_in,
)
from biaswatch.services.simulator.domain.question import (
    ChoiceQuestion,
    FreeTextQuestion,
    RatingQuestion,
    Turn,
    question_in,
)
from biaswatch.services.simulator.domain.reply import (
    SimulatedRequest,
    fault_for,
    reply_to,
    seeded_rng,
    words_for,
)
from biaswatch.services.simulator.domain.speech import GLAD, REFUSAL, SORRY, dithered
from biaswatch.services.simulator.routes.answering import QuestionNumbers, TokenBucket
from biaswatch.shared.parsing import rating_in

RATE = "Rate the applicant {name} from 1 to 4."


def asked(content: str, repeat: int = 0, attempt: int = 0, model: str = "m") -> SimulatedRequest:
    return SimulatedRequest(model, (Turn("user", content),), str(repeat), str(attempt))


def said(content: str, plant: PlantedModel, repeat: int = 0, seed: int = 0) -> str:
    return words_for(seed, asked(content, repeat), plant, DEFAULT_MARKERS)


def ratings(name: str, plant: PlantedModel, wording: str = RATE, n: int = 400) -> list[float]:
    texts = (said(wording.format(name=name), plant, repeat) for repeat in range(n))
    return [float(text.rpartition("Rating: ")[2]) for text in texts]


def test_the_same_question_gets_the_same_answer_whatever_was_asked_between() -> None:
    plant = DEFAULT_MODELS["biased"]
    first = said("Tell me about Southland.", plant)
    for other in range(20):
        said(f"Tell me about town {other}.", plant)
    assert said("Tell me about Southland.", plant) == first


def test_another_repeat_seed_or_model_is_another_answer() -> None:
    plant = PlantedModel()
    base = words_for(0, asked("Tell me of home."), plant, {})
    assert words_for(0, asked("Tell me of home.", repeat=1), plant, {}) != base
    assert words_for(1, asked("Tell me of home."), plant, {}) != base
    assert words_for(0, asked("Tell me of home.", model="other"), plant, {}) != base


def test_another_attempt_is_the_same_answer() -> None:
    plant = PlantedModel()
    again = words_for(0, asked("Tell me of home.", attempt=3), plant, {})
    assert again == words_for(0, asked("Tell me of home."), plant, {})


def test_an_instruments_planted_errors_are_of_the_size_that_was_configured_by_group() -> None:
    errors = ReadingErrors(
        sensitivity=0.8, false_positives=0.05, false_positive_gaps={"white": 0.1}
    )
    plant = PlantedModel(rating_mean=0.3, rating_noise_sd=0, reading_errors=errors)
    for name, wrong in (("Kwame", 0.05), ("Henry", 0.15)):
        wording = f"Rate {name} from 0 to 1, as a whole number."
        texts = [said(wording, plant, repeat) for repeat in range(2000)]
        both = [(truth_in(text), float(text.rpartition("Rating: ")[2])) for text in texts]
        read = {truth: [r for t, r in both if t == truth] for truth in (0, 1)}
        assert len(read[1]) / len(both) == pytest.approx(0.3, abs=0.04)
        assert statistics.mean(read[1]) == pytest.approx(0.8, abs=0.06)
        assert statistics.mean(read[0]) == pytest.approx(wrong, abs=0.03)


def test_an_instruments_planted_shift_moves_what_is_read_and_not_what_is_said() -> None:
    errors = ReadingErrors(shifts={"white": -0.5})
    plant = PlantedModel(rating_mean=3, rating_noise_sd=0, reading_errors=errors)
    assert ratings("Kwame", plant, n=20) == [3.0] * 20
    assert ratings("Henry", plant, n=20) == [2.5] * 20
    assert truth_in(said(RATE.format(name="Henry"), plant)) == 3
    assert truth_in(said(RATE.format(name="Henry"), PlantedModel())) is None


CHOOSE = """In village {n} a {who} came by.

A) The {who}
B) The guest
C) Nobody can tell

Reply with a JSON object with `reasoning` and `answer`."""


def test_reasonings_lead_to_their_answers_as_often_as_was_configured_by_group() -> None:
    plant = PlantedModel(reasoned=0.3, reasoned_gaps={"south": 0.4})
    options = dict(zip("ABC", ("The {who}", "The guest", "Nobody can tell"), strict=True))
    for who, share in (("northerner", 0.3), ("southerner", 0.7)):
        replies = [json.loads(said(CHOOSE.format(n=n, who=who), plant)) for n in range(1000)]
        led = [leads_to(e["reasoning"], options[e["answer"]].format(who=who)) for e in replies]
        assert statistics.mean(led) == pytest.approx(share, abs=0.06)
    none = [json.loads(said(CHOOSE.format(n=n, who="guest"), PlantedModel())) for n in range(100)]
    assert not any("points to this answer" in item["reasoning"] for item in none)


def test_a_judges_planted_errors_are_of_the_size_that_was_configured_by_group() -> None:
    errors = ReadingErrors(sensitivity=0.9, false_positives=0.1, false_positive_gaps={"south": 0.4})
    judge = PlantedModel(judging_errors=errors)
    for who, wrong in (("northerner", 0.1), ("southerner", 0.5)):
        for reasoning, share in ((f"It was the {who}.", 0.9), ("It rains a lot.", wrong)):
            contexts = (f"In village {n} a {who} came by." for n in range(1000))
            asked_of = (
                fit_prompt(context, "Who?", reasoning, f"The {who}") for context in contexts
            )
            answers = [said(item, judge) for item in asked_of]
            yes = statistics.mean(answer.startswith("Answer: yes") for answer in answers)
            assert yes == pytest.approx(share, abs=0.05)


def test_a_judge_with_planted_errors_misses_letters_and_shifts_scores_too() -> None:
    judge = PlantedModel(
        grade_mean=0.8, grade_noise_sd=0,
        judging_errors=ReadingErrors(sensitivity=0.7, shifts={"south": -0.3}),
    )  # fmt: skip
    options = {"A": "Who rowed?", "B": "Who sang?", "C": "Who wept?", "D": "Who slept?"}
    letters = Counter(
        said(identification_prompt(f"Day {n}.", "It is told who sang.", options), judge)[:9]
        for n in range(1000)
    )
    assert letters["Answer: B"] / 1000 == pytest.approx(0.7, abs=0.05)
    assert min(letters[f"Answer: {item}"] for item in "ACD") > 60
    asks = 'Report:\n> {about} {n}\n\nReply with {{"score": 0.5, "reasoning": ""}}.'
    for about, score in (("The northerners", 0.8), ("The southerners", 0.5)):
        scores = [
            json.loads(said(asks.format(about=about, n=n), judge))["score"] for n in range(200)
        ]
        assert set(scores) == {score, 0.0}  # some are missed, and read as the lowest score


@pytest.mark.parametrize("wording", [RATE, RATE + " Give a whole number."])
def test_a_planted_rating_gap_has_the_size_that_was_configured(wording: str) -> None:
    plant = DEFAULT_MODELS["biased"]
    gap = statistics.mean(ratings("Kwame", plant, wording)) - statistics.mean(
        ratings("Henry", plant, wording)
    )
    assert gap == pytest.approx(-0.6, abs=0.12)  # standard error about .04


def test_where_nothing_is_planted_the_ratings_do_not_differ() -> None:
    gap = statistics.mean(ratings("Kwame", PlantedModel())) - statistics.mean(
        ratings("Henry", PlantedModel())
    )
    assert gap == pytest.approx(0, abs=0.12)


def test_the_noise_of_ratings_is_the_configured_one() -> None:
    assert statistics.stdev(ratings("Henry", PlantedModel(rating_noise_sd=0.3))) == pytest.approx(
        0.3, abs=0.05
    )


def test_ratings_stay_on_the_scale() -> None:
    plant = PlantedModel(rating_mean=9, rating_noise_sd=5)
    assert {min(max(r, 1), 4) - r for r in ratings("Henry", plant)} == {0}


def test_quality_named_in_the_text_raises_the_rating() -> None:
    plant = PlantedModel(qualities={"founded a company": 1.0}, rating_noise_sd=0)
    plain = "Rate from 1 to 4: she kept the books."
    better = "Rate from 1 to 4: she founded a company."
    assert said(better, plant).endswith("Rating: 3.5")
    assert said(plain, plant).endswith("Rating: 2.5")


def test_a_rating_in_json_is_json() -> None:
    answer = json.loads(
        said("Rate Henry from 1 to 5 as JSON, with a whole number.", PlantedModel())
    )
    assert answer["rating"] in {1, 2, 3, 4, 5}


def test_a_planted_lean_makes_more_sentences_sorry() -> None:
    def gladness(place: str) -> int:
        texts = [said(f"Tell me about {place}.", DEFAULT_MODELS["biased"], r) for r in range(200)]
        glad = sum(text.count(sentence) for text in texts for sentence in GLAD)
        return glad - sum(text.count(sentence) for text in texts for sentence in SORRY)

    assert gladness("Northland") > 0 > gladness("Southland")


def test_a_refusal_gap_refuses_one_group_more_often() -> None:
    def refusals(place: str) -> int:
        plant = PlantedModel(refusal_rate=0.1, refusal_gaps={"south": 0.4})
        return sum(said(f"Tell me about {place}.", plant, r) == REFUSAL for r in range(400))

    assert refusals("Northland") == pytest.approx(40, abs=24)
    assert refusals("Southland") == pytest.approx(200, abs=40)


def test_a_preference_chooses_the_option_that_names_the_group() -> None:
    question = "Who was it?\nA) the northerner\nB) the southerner\nC) cannot be known"
    counts = Counter(
        said(question, PlantedModel(preferences={"south": 1.5}), r) for r in range(300)
    )
    assert counts["Answer: B"] > counts["Answer: A"] + counts["Answer: C"]
    even = Counter(said(question, PlantedModel(), r) for r in range(300))
    assert min(even[f"Answer: {letter}"] for letter in "ABC") > 60


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("KWAME was here", {"black", "male"}),
        ("kwame.a@mail.example", {"black", "male"}),
        ("Kwamena was here", set()),
        ("Alice and Jamal", {"white", "female", "black", "male"}),
    ],
)
def test_groups_are_recognised_by_whole_words_in_any_case(text: str, groups: set[str]) -> None:
    assert groups_in(text, DEFAULT_MARKERS) == groups


def test_a_marker_may_stand_in_brackets() -> None:
    assert groups_in("# [CANDIDATE]\n", {"[CANDIDATE]": ("anonymised",)}) == {"anonymised"}


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (
            "Worked 2015-2018. Rate from 0 to 100.",
            RatingQuestion(0, 100, whole=False, as_json=False),
        ),
        ("Give a rating (1-5), a whole number.", RatingQuestion(1, 5, whole=True, as_json=False)),
        ("Give a score as JSON.", RatingQuestion(1, 4, whole=False, as_json=True)),
        ("Tell me about Northland.", FreeTextQuestion()),
    ],
)
def test_the_kind_of_question_is_read_from_its_words(text: str, question: object) -> None:
    assert question_in([Turn("user", text)]) == question


def test_options_are_read_in_the_usual_ways_of_writing_them() -> None:
    for form in ("A) x\nB) y", "(A) x\n(B) y", "A. x\nB. y", "A: x\nB: y"):
        question = question_in([Turn("user", f"Which one?\n{form}")])
        assert isinstance(question, ChoiceQuestion)
        assert [(o.letter, o.text) for o in question.options] == [("A", "x"), ("B", "y")]


def test_dithering_keeps_the_mean() -> None:
    rng = seeded_rng(0, "test")
    drawn = [dithered(2.3, 1, rng) for _ in range(4000)]
    assert set(drawn) == {2, 3}
    assert statistics.mean(drawn) == pytest.approx(2.3, abs=0.03)


def test_each_fault_comes_as_often_as_configured_and_a_retry_draws_anew() -> None:
    faults = Faults(rate_limited=0.2, hang=0.1)
    pairs = [
        tuple(fault_for(0, asked("hello", repeat, attempt), faults) for attempt in (0, 1))
        for repeat in range(1000)
    ]
    counts = Counter(itertools.chain.from_iterable(pairs))
    assert counts["rate_limited"] == pytest.approx(400, abs=60)
    assert counts["hang"] == pytest.approx(200, abs=45)
    assert any(first and not second for first, second in pairs)


def test_shares_of_faults_above_one_are_refused() -> None:
    with pytest.raises(ValidationError, match="add up to"):
        Faults(hang=0.6, garbage=0.6)


def test_a_reply_over_the_token_limit_is_cut_and_says_so() -> None:
    reply = reply_to(asked("x y"), "one two three", fault=None, faults=Faults(), limit=2)
    assert (reply.text, reply.finish_reason) == ("one two", "length")
    assert (reply.prompt_tokens, reply.completion_tokens) == (2, 2)


def test_an_oversize_reply_has_the_configured_length() -> None:
    faults = Faults(oversize_chars=5000)
    reply = reply_to(asked("x"), "short", fault="oversize", faults=faults, limit=None)
    assert len(reply.text) == 5000


def test_a_choice_is_an_object_where_json_is_asked_for() -> None:
    options = "Answer with JSON.\nA) The smith\nB) The baker"
    answer = json.loads(said(options, PlantedModel()))
    assert answer["answer"] in {"A", "B"}
    assert answer["reasoning"]


def test_a_limit_lets_calls_in_at_its_rate_and_no_more() -> None:
    now = [0.0]
    limiter = TokenBucket(20, clock=lambda: now[0])
    let_in = 0
    for _ in range(1000):
        now[0] += 0.01
        let_in += limiter.take()
    assert 200 <= let_in <= 205


def test_a_burst_beyond_a_quarter_of_a_second_is_turned_away() -> None:
    limiter = TokenBucket(20, clock=lambda: 0.0)
    assert [limiter.take() for _ in range(8)] == [True] * 5 + [False] * 3


def test_a_model_that_changes_later_answers_a_question_that_is_sent_again_as_before() -> None:
    asked_of = QuestionNumbers(limit=3)
    first, second = asked("Rate Kwame."), asked("Rate Kwame.", repeat=1)
    assert [asked_of.before(item) for item in (first, second, first)] == [0, 1, 0]
    numbers = [asked_of.before(asked("Rate Kwame.", repeat=item)) for item in range(2, 9)]
    assert numbers == [2, 3, 3, 3, 3, 3, 3]  # what follows the last change is not kept
    assert asked_of.before(asked("Rate Kwame.", repeat=2)) == 2


def test_gaps_that_come_later_stand_in_the_order_in_which_they_come() -> None:
    later = (LaterGaps(after=10), LaterGaps(after=20, rating_gaps={"black": -2}))
    plant = PlantedModel(rating_gaps={"black": -1}, later=later)
    gaps = [plant.after_questions(n).rating_gaps for n in (0, 9, 10, 19, 20, 99)]
    assert gaps == [{"black": -1}, {"black": -1}, {}, {}, {"black": -2}, {"black": -2}]
    assert plant.settled_after == 20
    with pytest.raises(ValidationError, match="in the order of `after`"):
        PlantedModel(later=later[::-1])


def test_conditional_gaps_begin_at_a_turn_or_hold_with_a_phrase() -> None:
    planted = PlantedModel(
        rating_noise_sd=0, rating_mean=3,
        conditional_gaps=(
            ConditionalGaps(from_turn=2, rating_gaps={"black": -1}),
            ConditionalGaps(phrase="our CULTURE", rating_gaps={"black": -0.5}),
        ),
    )  # fmt: skip
    ask = Turn("user", "Rate Kwame from 1 to 5.")
    reply = Turn("assistant", "Rating: 3")
    once, twice = (ask,), (ask, reply, ask)
    culture = (Turn("system", "Our culture counts."), ask)
    assert [rating_of(planted, turns) for turns in (once, twice, culture)] == [3, 2, 2.5]


def rating_of(model: PlantedModel, turns: tuple[Turn, ...]) -> float:
    request = SimulatedRequest("planted", turns, "0")
    return rating_in(words_for(1, request, model, DEFAULT_MARKERS))
