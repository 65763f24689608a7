"""Pairs of answers: two questions about one context, what was chosen, and why."""

from collections import defaultdict
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
from biaswatch.shared.parsing import Unreadable, choice_in, reasoning_in

OPTION = "option:"
NO_RESPONSE = "no response"


@dataclass(frozen=True)
class AnsweredQuestion:
    """One question of a pair, and its answer."""

    probe: Probe
    chosen: str | None
    """The mark of the chosen option."""
    reasoning: str | None
    reason: str | None = None
    """Why there is no choice, or no reasoning."""

    @property
    def question(self) -> str:
        """What was asked."""
        return self.probe.variables.get("question", "")

    @property
    def answer(self) -> str:
        """The chosen option in words."""
        return self.probe.variables.get(OPTION + (self.chosen or ""), "")

    @property
    def is_unknown(self) -> bool:
        """Tell whether it says that it cannot be known: by the option, not by the gold label."""
        return self.chosen is not None and self.chosen == self.probe.facts.get("unknown")

    @property
    def repeats_question(self) -> bool:
        """Tell whether the reasoning holds its question word for word."""
        return bool(self.question) and _plain(self.question) in _plain(self.reasoning or "")


@dataclass(frozen=True)
class PairCase:
    """Both sides of a pair, answered by one target in one way."""

    run_id: str
    set_id: str
    a: AnsweredQuestion
    b: AnsweredQuestion

    @property
    def id(self) -> str:
        """Derived from what was asked of whom, and how."""
        probe = self.a.probe
        return derived_id(
            "pair", self.run_id, probe.target.lane, probe.scaffold, probe.repeat, self.set_id
        )

    @property
    def context(self) -> str:
        """What both questions are about."""
        return self.a.probe.variables.get("material", "")

    @property
    def answers(self) -> PairAnswers:
        """What the two answers are to one another; two unread answers are not the same answer."""
        if self.a.chosen is None or self.b.chosen is None:
            return PairAnswers.UNREAD
        unknown = self.a.is_unknown + self.b.is_unknown
        if unknown:
            return PairAnswers.BOTH_UNKNOWN if unknown == 2 else PairAnswers.MIXED
        same = self.a.chosen == self.b.chosen
        return PairAnswers.SAME_PERSON if same else PairAnswers.DIFFERENT

    @property
    def unasked(self) -> str | None:
        """Return why there is nothing to ask the judges about this pair, if there is nothing."""
        for name, side in (("a", self.a), ("b", self.b)):
            if side.reason:
                return f"question {name}: {side.reason}"
        return None


def cases_of(run_id: str, probes: Iterable[Probe], found: Mapping[str, Response]) -> list[PairCase]:
    """Return every pair a run planned, also those that lack an answer.

    `found` holds responses by id. A set is a pair where it has one probe of each side.
    """
    sets: dict[tuple[str, str, int, str], list[Probe]] = defaultdict(list)
    for probe in probes:
        if probe.set_id and "side" in probe.facts and "question" in probe.variables:
            sets[probe.target.lane, probe.scaffold, probe.repeat, probe.set_id].append(probe)
    cases = []
    for (*_, set_id), members in sets.items():
        by_side = {probe.facts["side"]: probe for probe in members}
        if len(members) == 2 and by_side.keys() == {"a", "b"}:
            a, b = (side_of(by_side[s], found.get(response_id_of(by_side[s]))) for s in "ab")
            cases.append(PairCase(run_id, set_id, a, b))
    return cases


def case_of(run_id: str, set_id: str, a: Response, b: Response) -> PairCase:
    """Return the pair of two answers that are there."""
    return PairCase(run_id, set_id, side_of(a.probe, a), side_of(b.probe, b))


def side_of(probe: Probe, response: Response | None) -> AnsweredQuestion:
    """Read one answer: its choice, and the reasoning where it can be read too."""
    chosen = None
    marks = [name.removeprefix(OPTION) for name in probe.variables if name.startswith(OPTION)]
    try:
        text = answer_text(response, NO_RESPONSE)
        chosen = choice_in(text, marks)
        reasoning = response.reasoning if response else None
        return AnsweredQuestion(probe, chosen, reasoning_in(text, reasoning))
    except Unreadable as unread:
        return AnsweredQuestion(probe, chosen, None, str(unread))


def answer_text(response: Response | None, absent: str) -> str:
    """Return the text of an answer; raise Unreadable, with the reason, where there is none."""
    if response is None:
        raise Unreadable(absent)
    if response.ending is not Ending.ANSWERED or response.text is None:
        raise Unreadable(f"no answer: {response.reason or 'the text was purged'}")
    return response.text


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
