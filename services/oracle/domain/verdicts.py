"""Replies become a verdict: each is read, judges are counted, flags follow; nothing is guessed."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from biaswatch.services.oracle.domain.pairs import PairCase, answer_text
from biaswatch.services.oracle.domain.questions import CONTROLS, LETTERS
from biaswatch.shared.contracts import (
    Check,
    Finding,
    PairAnswers,
    PairVerdict,
    Response,
    Run,
    Target,
    derived_id,
)
from biaswatch.shared.contracts.pair_verdict import (
    CORRECTED,
    FLAGS,
    NO_REPLY,
    corrected_of,
    flags_of,
    is_bad,
)
from biaswatch.shared.parsing import Unreadable, choice_in, reasoning_in, sentences_in, yes_or_no_in

MOST_SENTENCES = 3


@dataclass(frozen=True)
class JudgeReply:
    """One question to one judge, and what came back."""

    name: str
    judge: str
    expected: str | None
    response: Response | None


def unasked_verdict(
    case: PairCase, run: Run, judges: Sequence[Target], at: datetime
) -> PairVerdict:
    """Return the verdict of a pair that cannot be judged: counted, and no flag raised."""
    state = "unasked:" + "".join("1" if s.chosen else "0" for s in (case.a, case.b))
    nothing = Finding(reason=case.unasked)
    return PairVerdict(
        **_about(case, run, judges, at),
        closing=state,
        unasked=case.unasked,
        flags=dict.fromkeys(FLAGS, nothing),
        corrected=dict.fromkeys(CORRECTED, nothing),
    )


def pair_verdict(
    case: PairCase,
    run: Run,
    judges: Sequence[Target],
    asked: Sequence[JudgeReply],
    at: datetime,
    closing: str = "",
) -> PairVerdict:
    """Return the verdict of a pair from what its judges replied."""
    checks = [check_of(each) for each in asked]
    flags = flags_of(checks)
    return PairVerdict(
        **_about(case, run, judges, at),
        closing=closing,
        checks=tuple(checks),
        flags=flags,
        corrected=corrected_of(checks),
        explanations=_explanations(flags, asked),
    )


def _about(case: PairCase, run: Run, judges: Sequence[Target], at: datetime) -> dict[str, Any]:
    probe = case.a.probe
    return {
        "tenant": run.tenant,
        "purpose": run.purpose,
        "at": at,
        "run_id": run.id,
        "pair_id": case.id,
        "judges": tuple(judge.lane for judge in judges),
        "target": probe.target.name,
        "scaffold": probe.scaffold,
        "repeat": probe.repeat,
        "set_id": case.set_id,
        "facts": {k: v for k, v in probe.facts.items() if k in {"category", "condition"}},
        "answers": case.answers,
        "chosen": (case.a.chosen, case.b.chosen),
        "repeated": (case.a.repeats_question, case.b.repeats_question),
    }


def control_verdict(
    run: Run, judge: Target, asked: Sequence[JudgeReply], at: datetime, closing: str = ""
) -> PairVerdict:
    """Return what a judge replied where the right replies are known."""
    return PairVerdict(
        tenant=run.tenant,
        purpose=run.purpose,
        at=at,
        run_id=run.id,
        pair_id=derived_id(CONTROLS, run.id, judge.lane),
        judges=(judge.lane,),
        closing=closing,
        target=judge.name,
        scaffold="direct",
        set_id=CONTROLS,
        control=True,
        answers=PairAnswers.UNREAD,
        unasked="a control has no answers of a target",
        checks=tuple(check_of(each) for each in asked),
    )


def check_of(asked: JudgeReply) -> Check:
    """Read one reply: yes or no, or the letter of a question."""
    said, reason = None, None
    try:
        text = answer_text(asked.response, NO_REPLY)
        guess = "guess" in asked.name
        said = choice_in(text, LETTERS) if guess else yes_or_no_in(text)
    except Unreadable as unread:
        reason = str(unread)
    return Check(
        name=asked.name,
        judge=asked.judge,
        said=said,
        expected=asked.expected,
        reason=reason,
        copied=_copies(asked.response),
    )


def _copies(response: Response | None) -> bool:
    """Tell whether a reply holds the whole question."""
    if response is None or response.text is None:
        return False
    asked = " ".join(response.probe.messages[-1].content.split()) if response.probe.messages else ""
    return bool(asked) and asked in " ".join(response.text.split())


def _explanations(flags: Mapping[str, Finding], asked: Sequence[JudgeReply]) -> dict[str, str]:
    """Return for each raised flag what the first judge said who raised it, and why."""
    found: dict[str, str] = {}
    for flag, name in FLAGS.items():
        mine = [each for each in asked if each.name == name and flags[flag].value]
        for each in mine:
            check = check_of(each)
            if flag in found or check.said is None or not is_bad(check):
                continue
            with suppress(Unreadable):  # the judge gave a verdict and no reason
                why = reasoning_in(answer_text(each.response, NO_REPLY))
                found[flag] = sentences_in(why, MOST_SENTENCES)
    return found
