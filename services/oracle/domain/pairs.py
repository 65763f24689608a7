"""Pairs of answers to two questions about one context."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from biaswatch.shared.contracts import (
    Ending,
    PairAnswers,
    Probe,
    Response,
    derived_id,
    response_id_of,
)
from biaswatch.shared.contracts.judge_votes import NO_ANSWER
from biaswatch.shared.lookup import grouped
from biaswatch.shared.parsing import Unreadable, choice_in, reasoning_in
from biaswatch.shared.parsing.texts import plain_words

OPTION = "option:"
NO_RESPONSE = "no response"


@dataclass(frozen=True)
class AnsweredQuestion:
    """One question of a pair and its answer."""

    probe: Probe
    chosen: str | None
    """The letter of the chosen option."""
    reasoning: str | None
    reason: str | None = None
    """The reason for a missing choice or reasoning."""

    @property
    def question(self) -> str:
        """The text of the question."""
        return self.probe.variables.get("question", "")

    @property
    def answer(self) -> str:
        """The text of the chosen option."""
        return self.probe.variables.get(OPTION + (self.chosen or ""), "")

    @property
    def is_unknown(self) -> bool:
        """Tell whether the chosen option is that of an unknown answer."""
        return self.chosen is not None and self.chosen == self.probe.facts.get("unknown")

    @property
    def repeats_question(self) -> bool:
        """Tell whether the reasoning contains its question word for word."""
        return bool(self.question) and plain_words(self.question) in plain_words(
            self.reasoning or ""
        )


@dataclass(frozen=True)
class PairCase:
    """Both sides of a pair, answered by one target with one scaffold."""

    run_id: str
    set_id: str
    a: AnsweredQuestion
    b: AnsweredQuestion

    @property
    def id(self) -> str:
        """The id, derived from the run, the target, the scaffold, the repeat and the set."""
        probe = self.a.probe
        return derived_id(
            "pair", self.run_id, probe.target.lane, probe.scaffold, probe.repeat, self.set_id
        )

    @property
    def context(self) -> str:
        """The context of both questions."""
        return self.a.probe.variables.get("material", "")

    @property
    def answers(self) -> PairAnswers:
        """The relation of the two answers; unread answers are never the same."""
        if self.a.chosen is None or self.b.chosen is None:
            return PairAnswers.UNREAD
        unknown = self.a.is_unknown + self.b.is_unknown
        if unknown:
            return PairAnswers.BOTH_UNKNOWN if unknown == 2 else PairAnswers.MIXED
        same = self.a.chosen == self.b.chosen
        return PairAnswers.SAME_PERSON if same else PairAnswers.DIFFERENT

    @property
    def unasked(self) -> str | None:
        """The reason why this pair cannot be judged, else None."""
        for name, side in (("a", self.a), ("b", self.b)):
            if side.reason:
                return f"question {name}: {side.reason}"
        return None


def pair_cases(
    run_id: str, probes: Iterable[Probe], responses: Mapping[str, Response]
) -> list[PairCase]:
    """Return the planned pairs of a run, also those without answers.

    `responses` are by id. A set is a pair if it has one probe of each side.
    """
    sets = grouped(
        ((probe.target.lane, probe.scaffold, probe.repeat, probe.set_id), probe)
        for probe in probes
        if probe.set_id and "side" in probe.facts and "question" in probe.variables
    )
    cases = []
    for (*_, set_id), members in sets.items():
        by_side = {probe.facts["side"]: probe for probe in members}
        if len(members) == 2 and by_side.keys() == {"a", "b"}:
            a, b = (
                side_of(by_side[side], responses.get(response_id_of(by_side[side])))
                for side in "ab"
            )
            cases.append(PairCase(run_id, set_id, a, b))
    return cases


def case_of(run_id: str, set_id: str, a: Response, b: Response) -> PairCase:
    """Return the pair of two responses."""
    return PairCase(run_id, set_id, side_of(a.probe, a), side_of(b.probe, b))


def side_of(probe: Probe, response: Response | None) -> AnsweredQuestion:
    """Read the choice and, if possible, the reasoning of an answer."""
    chosen = None
    letters = [name.removeprefix(OPTION) for name in probe.variables if name.startswith(OPTION)]
    try:
        text = answer_text(response, NO_RESPONSE)
        chosen = choice_in(text, letters)
        reasoning = response.reasoning if response else None
        return AnsweredQuestion(probe, chosen, reasoning_in(text, reasoning))
    except Unreadable as error:
        return AnsweredQuestion(probe, chosen, None, str(error))


def answer_text(response: Response | None, absent: str) -> str:
    """Return the text of an answer; raise Unreadable with the reason for a missing one."""
    if response is None:
        raise Unreadable(absent)
    if response.ending is not Ending.ANSWERED or response.text is None:
        raise Unreadable(f"{NO_ANSWER}: {response.reason or 'the text was purged'}")
    return response.text
