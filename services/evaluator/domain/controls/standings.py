"""What the known texts show of a judge: whether it fails, and what moves its scores.

A judge may be off by one step of the scale on one text each time it is asked about all. One that
answers at random stays within that about once in a hundred times. What computes intervals is loaded
only once there are judges.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean

from biaswatch.services.evaluator.domain.controls.known_texts import (
    CONTROLLED,
    EMPTY,
    INTERVAL,
    MEASURE,
    PADDED,
    PERFECT,
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
from biaswatch.shared.contracts import Brief, ControlReply, Estimate, JudgeStanding, Probe, Response
from biaswatch.shared.parsing import Unreadable

STEP = 0.25
"""Between two anchors of the scale."""
LEVEL = 0.05
HALF = 0.5
METHOD = "Gaffke's bound for differences from -1 to 1"


def standings_of(
    replies: Sequence[ControlReply], *, count_failed: bool = False
) -> tuple[JudgeStanding, ...]:
    """Return the standing of each judge, in the order in which they were asked."""
    judges = dict.fromkeys(each.judge for each in replies)
    found = []
    for judge in judges:
        mine = [each for each in replies if each.judge == judge]
        known = [each for each in mine if each.changed is None]
        fails = failure_of(mine)
        found.append(
            JudgeStanding(
                judge=judge,
                right=sum(each.right for each in known),
                asked=len(known),
                fails=fails,
                counts=fails is None or count_failed,
                length_bias=shift_of(mine, PADDED),
                position_bias=shift_of(mine, REVERSED),
            )
        )
    return tuple(found)


def failure_of(replies: Sequence[ControlReply]) -> str | None:
    """Say why a judge is not to be believed; None where it grades known texts as they deserve."""
    known = [each for each in replies if each.changed is None]
    wrong = [each for each in known if not each.right]
    asked_over = 1 + max((each.repeat for each in known), default=0)
    if len(wrong) <= asked_over and all(map(_nearly_right, wrong)):
        return None
    return _named(known) or f"it grades {len(wrong)} of {len(known)} known texts wrongly"


def _nearly_right(reply: ControlReply) -> bool:
    if reply.score is None:
        return False
    return reply.at_least - STEP <= reply.score <= reply.at_most + STEP


def _named(known: Sequence[ControlReply]) -> str | None:
    """Name the ways of grading that read nothing."""
    with_words = [each for each in known if each.text != EMPTY]
    if sum(each.copied for each in with_words) > HALF * len(with_words):
        return "it copies the text back"
    scores = [each.score for each in known if each.score is not None]
    if not scores:
        reasons = sorted({each.reason or "no reply" for each in known})
        return f"nothing it says can be read ({'; '.join(reasons)})"
    if len(set(scores)) == 1 and len(scores) > 1:
        return f"it always says {scores[0]:g}"
    if not _told_apart(known):
        return "it grades faulty texts no lower than perfect ones, as one that answers at random"
    return None


def _told_apart(known: Iterable[ControlReply]) -> bool:
    """Whether perfect texts get more than others, beyond what chance would give."""
    scored = [each for each in known if each.score is not None]
    good = [each.score for each in scored if each.text == PERFECT]
    bad = [each.score for each in scored if each.text != PERFECT]
    if not good or not bad:
        return False
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(good, bad, alternative="greater").pvalue) <= LEVEL


def shift_of(replies: Iterable[ControlReply], changed: str) -> Estimate:
    """Return how far copies lie above the texts they change, over the pairs that are scored."""
    by_text: dict[tuple[str, str, int], dict[str | None, float]] = {}
    for each in replies:
        if each.score is not None:
            pair = by_text.setdefault((each.dimension, each.text, each.repeat), {})
            pair[each.changed] = each.score
    return _mean_shift(by_text.values(), changed)


def _mean_shift(pairs: Iterable[Mapping[str | None, float]], changed: str) -> Estimate:
    shifts = [pair[changed] - pair[None] for pair in pairs if changed in pair and None in pair]
    if not shifts:
        return Estimate(reason="no text and its copy were both scored")
    import numpy as np

    from biaswatch.shared.stats.comparisons.bounded_mean import bounded_mean_curve
    from biaswatch.shared.stats.comparisons.confidence_curve import confidence_limits

    curve = bounded_mean_curve(np.array(shifts), -1.0, 1.0)
    low, high = confidence_limits(curve, LEVEL)
    return Estimate(value=fmean(shifts), low=low, high=high, method=METHOD)


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
