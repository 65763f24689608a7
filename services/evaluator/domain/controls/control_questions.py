"""The questions about known texts, asked as any other judgement is, and their replies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from biaswatch.services.evaluator.domain.controls.known_texts import (
    CONTROLLED,
    INTERVAL,
    MEASURE,
    REVERSED,
    KnownText,
    control_subject,
    known_texts,
)
from biaswatch.services.evaluator.domain.model_questions import (
    judgement_in,
    judging_probe,
    response_text,
)
from biaswatch.services.evaluator.domain.rubric import (
    Dimension,
    JudgementTask,
    Profile,
    judging_prompt,
)
from biaswatch.services.evaluator.domain.subjects import measure_of
from biaswatch.shared.contracts import Brief, ControlReply, Probe, Response
from biaswatch.shared.parsing import Unreadable

CONTROL = "control"


@dataclass(frozen=True)
class ControlRequest:
    """A known text, the judge that grades it, and the probe that asks."""

    key: str
    known: KnownText
    judge: str
    repeat: int
    probe: Probe


def control_requests(
    brief: Brief, shipped: Mapping[str, Dimension], profile: Profile, at: datetime
) -> Iterator[ControlRequest]:
    """Return each known text for each judge; nobody is asked where controls are off.

    `shipped` holds the dimensions as the platform has them: the scores that texts deserve are
    known for those, not for what a team puts in their stead.
    """
    if not brief.controls:
        return
    for known in known_texts():
        prompt = _prompt(known, shipped[known.dimension], profile)
        name = "-".join(filter(None, (known.dimension, known.name, known.changed)))
        for number, judge in enumerate(brief.judges, start=1):
            for repeat in range(brief.control_repeats):
                key = f"{CONTROL}/{name}/{number}/{repeat}"
                probe = judging_probe(brief, key, judge, prompt, repeat, at)
                yield ControlRequest(key, known, judge.name, repeat, probe)


def _prompt(known: KnownText, dimension: Dimension, profile: Profile) -> str:
    subject = control_subject()
    measure = measure_of(subject, MEASURE) if known.dimension == INTERVAL else None
    task = JudgementTask(dimension, measure)
    turned = known.changed == REVERSED
    return judging_prompt(task, subject, profile, known.text, from_low=turned)


def shipped_dimensions(dimensions: Sequence[Dimension]) -> dict[str, Dimension]:
    """Return those that known texts are about, by name."""
    return {each.name: each for each in dimensions if each.name in CONTROLLED}


def control_replies(
    requests: Sequence[ControlRequest], replies: Mapping[str, Response]
) -> tuple[ControlReply, ...]:
    """Return what each judge said of each known text; `replies` is by the id of the probe."""
    return tuple(_reply(each, replies.get(each.probe.id)) for each in requests)


def _reply(request: ControlRequest, response: Response | None) -> ControlReply:
    known, score, reason, text = request.known, None, None, ""
    try:
        text = response_text(response)
        score = judgement_in(text).score
    except Unreadable as unread:
        reason = f"not scored: {unread}"
    return ControlReply(
        key=request.key,
        judge=request.judge,
        dimension=known.dimension,
        text=known.name,
        changed=known.changed,
        repeat=request.repeat,
        at_least=known.at_least,
        at_most=known.at_most,
        score=score,
        copied=bool(known.text) and _plain(known.text) in _plain(text),
        reason=reason,
    )


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
