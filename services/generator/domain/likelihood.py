"""The scaffold `likelihood`: the target scores given answers instead of writing one.

The answers are the options or ratings of a question, or continuations of a text. Where the question
has a context, the same answers are scored in a neutral one, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log1p

from biaswatch.services.generator.domain.constrained import requested_of
from biaswatch.services.generator.domain.planned_calls import CallResult, PlannedCall, Scaffold
from biaswatch.services.generator.domain.questions import (
    OPTION,
    QUESTION,
    UnfitProbe,
    check_not_batched,
    material_of,
    option_lines,
    question_of,
    scale_of,
    user,
    with_prefix,
    with_request,
)
from biaswatch.shared.contracts import Message, Probe, Role
from biaswatch.shared.contracts.likelihood import ScoredOption
from biaswatch.shared.contracts.probe import MeasuredPart
from biaswatch.shared.llm.port import Continuations, TokenScores

CONTINUATION, CONTEXT, NEUTRAL_CONTEXT = "continuation:", "context", "neutral"
IN_CONTEXT, NEUTRAL = "in_context", "neutral"
"""Names of the two calls."""
CONTENT_FREE = "N/A"
"""The question in the neutral context, after Zhao et al. (2021), Calibrate before use."""
MAX_OPTIONS = 101
"""A server may need one request for each option."""
MAX_SHARE = 1 - 1e-12
"""The share of an option that longer options can take; beyond it, rounding decides."""
LETTER = "Answer with the letter alone: {first} to {last}."
NUMBER = "Answer with one whole number from {first} to {last} and nothing else."


@dataclass(frozen=True)
class ScoredQuestion:
    """The options of a question by name, and the question with and without its content."""

    options: Mapping[str, str]
    context: str | None = None
    """The raw text before a continuation; None for a chat."""
    neutral_context: str | None = None
    messages: tuple[Message, ...] = ()
    neutral: tuple[Message, ...] = ()

    @property
    def calls(self) -> tuple[PlannedCall, ...]:
        """The call in the context of the question, and that in a neutral one, if any."""
        texts = tuple(self.options.values())
        own = Continuations(texts, self.context)
        calls = [PlannedCall(IN_CONTEXT, self.messages, continuations=own)]
        if self.neutral or self.neutral_context is not None:
            free = Continuations(texts, self.neutral_context)
            calls.append(PlannedCall(NEUTRAL, self.neutral, continuations=free))
        return tuple(calls)


class Likelihood(Scaffold):
    """Asks for the log-probabilities of given answers; the answer is the most likely one."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        check_not_batched(probe, "batches return no log-probabilities")
        return scored_question(probe).calls

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """Return the name of the most likely option."""
        options = scored_options(probe, results)
        return max(options, key=lambda option: sum(option.logprobs)).name


def scored_question(probe: Probe) -> ScoredQuestion:
    """Return the question and the options that a probe asks to score.

    Raises
    ------
    UnfitProbe
        The probe declares no answers to score, too many, or an empty one.
    """
    if continuations := with_prefix(probe, CONTINUATION):
        question = _continued(probe, continuations)
    elif QUESTION in probe.variables:
        question = _in_variables(probe)
    else:
        question = _requested(probe)
    if not 2 <= len(question.options) <= MAX_OPTIONS or not all(question.options.values()):
        raise UnfitProbe(f"Score 2 to {MAX_OPTIONS} answers, none of them empty.")
    return question


def scored_options(probe: Probe, results: Mapping[str, CallResult]) -> tuple[ScoredOption, ...]:
    """Return the log-probabilities of each option; none without scores.

    A continuation has one for each of its tokens. An option has one in all, of this option and no
    longer one: `1` does not count what is `10`.
    """
    scores = {name: result.answer.scores for name, result in results.items() if result.answer}
    if not scores.get(IN_CONTEXT):
        return ()
    is_text = bool(with_prefix(probe, CONTINUATION))
    by_call = {
        name: [tuple(p for _, p in row) for row in rows] if is_text else exclusive(rows)
        for name, rows in scores.items()
    }
    names, neutral = list(scored_question(probe).options), by_call.get(NEUTRAL)
    return tuple(
        ScoredOption(name=name, logprobs=own, neutral_logprobs=neutral[place] if neutral else ())
        for place, (name, own) in enumerate(zip(names, by_call[IN_CONTEXT], strict=True))
    )


def exclusive(scores: Sequence[TokenScores]) -> list[tuple[float]]:
    """Return the log-probability of each text and of none that continues it.

    Examples
    --------
    >>> one, ten = [("1", -1.0)], [("1", -1.0), ("0", -2.0)]
    >>> [round(value, 3) for (value,) in exclusive([one, ten])]
    [-1.145, -3.0]
    """
    tokens = [tuple(token for token, _ in row) for row in scores]
    totals = [sum(logprob for _, logprob in row) for row in scores]
    own = list(totals)
    for place in sorted(range(len(scores)), key=lambda place: -len(tokens[place])):
        length = len(tokens[place])
        share = sum(
            exp(value - totals[place])
            for text, value in zip(tokens, own, strict=True)
            if len(text) > length and text[:length] == tokens[place]
        )
        own[place] += log1p(-min(share, MAX_SHARE))
    return [(value,) for value in own]


def _continued(probe: Probe, continuations: Mapping[str, str]) -> ScoredQuestion:
    """Return continuations of a raw text, or answers in words to a question."""
    if QUESTION in probe.variables:
        material = material_of(probe)
        neutral = user(question_of(probe), CONTENT_FREE) if material else user(CONTENT_FREE)
        message = user(question_of(probe), material)
        return ScoredQuestion(continuations, messages=(message,), neutral=(neutral,))
    if probe.target.system_prompt:
        raise UnfitProbe("A text that is continued has no place for a role: leave out `role`.")
    context = probe.variables.get(CONTEXT, "")
    free = probe.variables.get(NEUTRAL_CONTEXT, "") if context else None
    return ScoredQuestion(continuations, context, free)


def _in_variables(probe: Probe) -> ScoredQuestion:
    """Return the options or the scale of a question in variables."""
    options, material, request = with_prefix(probe, OPTION), material_of(probe), ""
    lines = option_lines(options)
    if options:
        names = list(options)
        request = LETTER.format(first=names[0], last=names[-1])
    else:
        scale = scale_of(probe)
        names = _numbers(scale.lowest, scale.highest)
        request = NUMBER.format(first=names[0], last=names[-1])
    question = question_of(probe)
    neutral = user(question if material else CONTENT_FREE, request, CONTENT_FREE, lines)
    message = user(question, request, material, lines)
    return ScoredQuestion({name: name for name in names}, messages=(message,), neutral=(neutral,))


def _requested(probe: Probe) -> ScoredQuestion:
    """Return the declared options or scale of a question in messages."""
    requested = requested_of(probe)
    if requested.part is MeasuredPart.RANKING:
        raise UnfitProbe("A ranking cannot be scored; ask for a choice.")
    if requested.part is MeasuredPart.CHOICE:
        names, request = list(requested.options), LETTER
    else:
        names, request = _numbers(requested.low or 0.0, requested.high or 0.0), NUMBER
    request = request.format(first=names[0], last=names[-1])
    roles = tuple(message for message in probe.messages if message.role is Role.SYSTEM)
    return ScoredQuestion(
        {name: name for name in names},
        messages=with_request(probe.messages, request),
        neutral=(*roles, user(CONTENT_FREE, request)),
    )


def _numbers(low: float, high: float) -> list[str]:
    if low != int(low) or high != int(high) or high - low >= MAX_OPTIONS:
        raise UnfitProbe(f"A scale to score has at most {MAX_OPTIONS} whole numbers.")
    return [str(number) for number in range(int(low), int(high) + 1)]
