"""Verdicts on pairs and controls from the replies of judges."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from biaswatch.services.oracle.domain.pairs import PairCase, answer_text
from biaswatch.services.oracle.domain.questions import CONTROLS, JudgeQuestion
from biaswatch.shared.analysis.judges.stories import GUESS, LETTERS
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
from biaswatch.shared.contracts.judge_votes import (
    CORRECTED,
    FLAGS,
    NO_REPLY,
    corrected_of,
    flags_of,
    is_bad,
)
from biaswatch.shared.parsing import Unreadable, choice_in, reasoning_in, sentences_in, yes_or_no_in

MAX_SENTENCES = 3
PAIR_FACTS = {"category", "condition", "template", "language"}


@dataclass(frozen=True)
class JudgeReply:
    """One question to one judge, and its reply."""

    name: str
    judge: str
    expected: str | None
    response: Response | None


def unasked_verdict(
    case: PairCase, run: Run, judges: Sequence[Target], at: datetime
) -> PairVerdict:
    """Return the verdict on a pair that cannot be judged, without flags."""
    state = "unasked:" + "".join("1" if s.chosen else "0" for s in (case.a, case.b))
    undefined = Finding(reason=case.unasked)
    return _verdict(
        case,
        run,
        judges,
        at,
        closing=state,
        flags=dict.fromkeys(FLAGS, undefined),
        corrected=dict.fromkeys(CORRECTED, undefined),
    )


def pair_verdict(
    case: PairCase,
    run: Run,
    judges: Sequence[Target],
    replies: Sequence[JudgeReply],
    at: datetime,
    closing: str = "",
) -> PairVerdict:
    """Return the verdict on a pair from the replies of its judges."""
    checks = [check_of(reply) for reply in replies]
    flags = flags_of(checks)
    return _verdict(
        case,
        run,
        judges,
        at,
        closing=closing,
        flags=flags,
        corrected=corrected_of(checks),
        checks=checks,
        explanations=_explanations(flags, replies),
    )


def _verdict(
    case: PairCase,
    run: Run,
    judges: Sequence[Target],
    at: datetime,
    *,
    closing: str,
    flags: Mapping[str, Finding],
    corrected: Mapping[str, Finding],
    checks: Sequence[Check] = (),
    explanations: Mapping[str, str] | None = None,
) -> PairVerdict:
    probe = case.a.probe
    return PairVerdict(
        tenant=run.tenant,
        purpose=run.purpose,
        at=at,
        run_id=run.id,
        pair_id=case.id,
        judges=tuple(judge.lane for judge in judges),
        target=probe.target.name,
        scaffold=probe.scaffold,
        repeat=probe.repeat,
        set_id=case.set_id,
        facts={k: v for k, v in probe.facts.items() if k in PAIR_FACTS},
        answers=case.answers,
        chosen=(case.a.chosen, case.b.chosen),
        repeated=(case.a.repeats_question, case.b.repeats_question),
        closing=closing,
        unasked=case.unasked,
        checks=tuple(checks),
        flags=dict(flags),
        corrected=dict(corrected),
        explanations=dict(explanations or {}),
    )


def bank_id(run: Run, judge: Target, questions: Iterable[JudgeQuestion]) -> str:
    """Return the id of an examination, which all runs of a tenant share for a month."""
    texts: list[JsonValue] = [[q.name, q.text, q.expected] for q in questions]
    return derived_id("examination", run.tenant, judge.lane, f"{run.at:%Y-%m}", texts)


def control_verdict(
    run: Run,
    judge: Target,
    checks: Sequence[Check],
    words: Mapping[str, str],
    at: datetime,
    closing: str = "",
) -> PairVerdict:
    """Return the verdict that records the replies of a judge to the controls.

    `words` holds the swapped words of copies, which become its facts.
    """
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
        facts=dict(words),
        answers=PairAnswers.UNREAD,
        unasked="a control has no answers of a target",
        checks=tuple(checks),
    )


def kept_examination(verdict: PairVerdict, bank: str) -> PairVerdict:
    """Return a verdict on controls under the id of its bank, for later runs."""
    return verdict.model_copy(update={"run_id": bank, "pair_id": bank, "closing": ""})


def kept_examination_id(run: Run, judge: Target, bank: str) -> str:
    """Return the id of the kept verdict on the controls of a bank by a judge."""
    return derived_id(PairVerdict.kind, run.tenant, run.purpose, bank, bank, [judge.lane], "")


def check_of(reply: JudgeReply) -> Check:
    """Read one reply: yes or no, or the letter of a question."""
    value, reason = None, None
    try:
        text = answer_text(reply.response, NO_REPLY)
        value = choice_in(text, LETTERS) if GUESS in reply.name else yes_or_no_in(text)
    except Unreadable as error:
        reason = str(error)
    return Check(
        name=reply.name,
        judge=reply.judge,
        said=value,
        expected=reply.expected,
        reason=reason,
        copied=_copies(reply.response),
    )


def _copies(response: Response | None) -> bool:
    """Tell whether a reply contains the whole question."""
    if response is None or response.text is None:
        return False
    messages = response.probe.messages
    question = " ".join(messages[-1].content.split()) if messages else ""
    return bool(question) and question in " ".join(response.text.split())


def _explanations(flags: Mapping[str, Finding], replies: Sequence[JudgeReply]) -> dict[str, str]:
    """Return for each raised flag the reasoning of the first judge that raised it."""
    explanations: dict[str, str] = {}
    for flag, name in FLAGS.items():
        if not flags[flag].value:
            continue
        for reply in replies:
            if reply.name != name or flag in explanations:
                continue
            check = check_of(reply)
            if check.said is not None and is_bad(check):
                with suppress(Unreadable):  # the reply has no reasoning
                    reasoning = reasoning_in(answer_text(reply.response, NO_REPLY))
                    explanations[flag] = sentences_in(reasoning, MAX_SENTENCES)
    return explanations
