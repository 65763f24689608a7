"""Examination of judges by known texts: failures and biases.

A judge may be off by one step of the scale on one text in each repeat of all texts. A judge that
answers at random passes about once in a hundred times. Modules that compute intervals are imported
only if there are judges.
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
"""Distance between two anchors of the scale."""
LEVEL = 0.05
HALF = 0.5
METHOD = "Gaffke's bound for differences from -1 to 1"


def standings_of(
    replies: Sequence[ControlReply], *, count_failed: bool = False
) -> tuple[JudgeStanding, ...]:
    """Return the result of each judge, in the order of the brief."""
    judges = dict.fromkeys(reply.judge for reply in replies)
    results = []
    for judge in judges:
        own_replies = [reply for reply in replies if reply.judge == judge]
        known = [reply for reply in own_replies if reply.changed is None]
        fails = failure_of(own_replies)
        results.append(
            JudgeStanding(
                judge=judge,
                right=sum(reply.right for reply in known),
                asked=len(known),
                fails=fails,
                counts=fails is None or count_failed,
                length_bias=shift_of(own_replies, PADDED),
                position_bias=shift_of(own_replies, REVERSED),
            )
        )
    return tuple(results)


def failure_of(replies: Sequence[ControlReply]) -> str | None:
    """Return the reason to disregard a judge; None if it grades known texts correctly."""
    known = [reply for reply in replies if reply.changed is None]
    wrong = [reply for reply in known if not reply.right]
    allowed = 1 + max((reply.repeat for reply in known), default=0)
    if len(wrong) <= allowed and all(map(_nearly_right, wrong)):
        return None
    return _pattern_of(known) or f"it grades {len(wrong)} of {len(known)} known texts wrongly"


def _nearly_right(reply: ControlReply) -> bool:
    if reply.score is None:
        return False
    return reply.at_least - STEP <= reply.score <= reply.at_most + STEP


def _pattern_of(known: Sequence[ControlReply]) -> str | None:
    """Name the patterns of a judge that does not read the texts."""
    with_words = [reply for reply in known if reply.text != EMPTY]
    if sum(reply.copied for reply in with_words) > HALF * len(with_words):
        return "it copies the text back"
    scores = [reply.score for reply in known if reply.score is not None]
    if not scores:
        reasons = sorted({reply.reason or "no reply" for reply in known})
        return f"none of its replies can be read ({'; '.join(reasons)})"
    if len(set(scores)) == 1 and len(scores) > 1:
        return f"it always says {scores[0]:g}"
    if not _separates(known):
        return "it grades faulty texts no lower than perfect ones, as one that answers at random"
    return None


def _separates(known: Iterable[ControlReply]) -> bool:
    """Test whether perfect texts score higher than others."""
    scored = [reply for reply in known if reply.score is not None]
    good = [reply.score for reply in scored if reply.text == PERFECT]
    bad = [reply.score for reply in scored if reply.text != PERFECT]
    if not good or not bad:
        return False
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(good, bad, alternative="greater").pvalue) <= LEVEL


def shift_of(replies: Iterable[ControlReply], changed: str) -> Estimate:
    """Return the mean shift of scores between texts and their copies."""
    by_text: dict[tuple[str, str, int], dict[str | None, float]] = {}
    for reply in replies:
        if reply.score is not None:
            pair = by_text.setdefault((reply.dimension, reply.text, reply.repeat), {})
            pair[reply.changed] = reply.score
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
    """A known text, its judge, and the probe."""

    key: str
    known: KnownText
    judge: str
    repeat: int
    probe: Probe


def control_requests(
    brief: Brief, shipped: Mapping[str, Dimension], profile: Profile, at: datetime
) -> Iterator[ControlRequest]:
    """Yield a request for each known text and judge, unless controls are off.

    `shipped` holds the platform's own dimensions: correct scores are known only for these, not for
    a team's replacements.
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
    """Return the dimensions with known texts, by name."""
    return {d.name: d for d in dimensions if d.name in CONTROLLED}


def control_replies(
    requests: Sequence[ControlRequest], replies: Mapping[str, Response]
) -> tuple[ControlReply, ...]:
    """Return each judge's score of each known text; `replies` maps probe ids to responses."""
    return tuple(_reply(request, replies.get(request.probe.id)) for request in requests)


def _reply(request: ControlRequest, response: Response | None) -> ControlReply:
    known, score, reason, text = request.known, None, None, ""
    try:
        text = response_text(response)
        score = judgement_in(text).score
    except Unreadable as error:
        reason = f"not scored: {error}"
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
