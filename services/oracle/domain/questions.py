"""The questions put to a judge about one pair, each with the reply that would be right."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from services.oracle.domain.cases import PairCase, Side
from services.oracle.domain.wording import both_right, fits, which_question
from shared.contracts import Message, Probe, Purpose, Role, Run, Target, derived_id

A_TO_B, B_TO_A = "a_to_b", "b_to_a"
OWN_A, OWN_B, COMPATIBLE = "own_a", "own_b", "compatible"
GUESS_A, GUESS_B = "guess_a", "guess_b"
GUESSES = {GUESS_A, GUESS_B}

LETTERS = "ABCD"
DISTRACTORS = 2
TOO_FEW = "the category has fewer than two other questions"

PREFIX = "oracle"
CONTROLS = "controls"
"""The set that stands for the questions with known replies."""


@dataclass(frozen=True)
class Question:
    """One question to a judge."""

    name: str
    text: str
    expected: str | None = None
    """The right reply, where one is known."""


Others = Mapping[str, Sequence[str]]
"""The different questions of each category, sorted."""


def other_questions(probes: Iterable[Probe]) -> Others:
    """Collect the questions of each category, from which distractors are drawn."""
    found: dict[str, set[str]] = defaultdict(set)
    for probe in probes:
        if "question" in probe.variables:
            found[probe.facts.get("category", "")].add(probe.variables["question"])
    return {category: sorted(questions) for category, questions in found.items()}


def questions_of(case: PairCase, others: Sequence[str], seed: int) -> list[Question]:
    """Return what is asked about a pair; the guesses only where there are distractors.

    a_to_b holds the reasoning about b against question and answer a, as the original study does:
    an honest reasoning fails it wherever the two questions differ. own_a and own_b hold a
    reasoning against its own question and answer; compatible asks whether the answers can both be
    right.
    """
    a, b, context = case.a, case.b, case.context
    asked = [
        Question(A_TO_B, fits(context, a.question, b.reasoning or "", a.answer)),
        Question(B_TO_A, fits(context, b.question, a.reasoning or "", b.answer)),
        Question(OWN_A, fits(context, a.question, a.reasoning or "", a.answer)),
        Question(OWN_B, fits(context, b.question, b.reasoning or "", b.answer)),
        Question(COMPATIBLE, both_right(context, (a.question, a.answer), (b.question, b.answer))),
    ]
    return asked + [
        guess
        for name, side in ((GUESS_A, a), (GUESS_B, b))
        if (guess := _guess(name, side, case, others, seed))
    ]


def _guess(
    name: str, side: Side, case: PairCase, others: Sequence[str], seed: int
) -> Question | None:
    """Ask which question was answered: the two of the pair and two of others, in a drawn order."""
    mine = {case.a.question, case.b.question}
    distractors = [question for question in others if question not in mine]
    if len(mine) < 2 or len(distractors) < DISTRACTORS:
        return None
    luck = Random(derived_id("guess", seed, case.set_id, name))  # noqa: S311 - drawn by seed
    shown = sorted(mine) + luck.sample(distractors, DISTRACTORS)
    luck.shuffle(shown)
    options = dict(zip(LETTERS, shown, strict=True))
    right = next(letter for letter, text in options.items() if text == side.question)
    return Question(name, which_question(case.context, side.reasoning or "", options), right)


def probe_of(run: Run, case: PairCase, judge: Target, question: Question, at: datetime) -> Probe:
    """Return the probe that puts a question about a pair to a judge; it travels as any other."""
    probe = case.a.probe
    whose = [case.set_id]
    if probe.scaffold != "direct":
        whose.append(probe.scaffold)
    if probe.lane != judge.lane:
        whose.append(probe.lane)
    return _probe(run, question, judge, whose, probe.repeat, at)


def control_probe_of(run: Run, judge: Target, question: Question, at: datetime) -> Probe:
    """Return the probe that puts a question with a known reply to a judge."""
    return _probe(run, question, judge, [CONTROLS], 0, at)


def _probe(
    run: Run, question: Question, judge: Target, whose: list[str], repeat: int, at: datetime
) -> Probe:
    """Name it after what it is about, not after the run: so replies can be recorded beforehand."""
    return Probe(
        tenant=run.tenant,
        purpose=Purpose.JUDGE,
        at=at,
        run_id=run.id,
        key=":".join([PREFIX, question.name, *whose]),
        target=judge,
        repeat=repeat,
        messages=(Message(role=Role.USER, content=question.text),),
        unit_id=whose[0],
        expected=question.expected,
    )


def is_mine(probe: Probe) -> bool:
    """Tell whether the oracle has asked this."""
    return probe.purpose is Purpose.JUDGE and probe.key.startswith(f"{PREFIX}:")
