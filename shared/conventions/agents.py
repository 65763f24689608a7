"""Agents in traces: the spans below an agent are its steps, and the agent has one answer."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from biaswatch.shared.conventions.answers import AnswerPart, joined, part_of
from biaswatch.shared.conventions.kinds import SpanKind, kind_of
from biaswatch.shared.conventions.left_out import LeftOut, OmissionReason
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.signals import Signal

SpanKey = tuple[str, str]
"""Trace and span."""
AI_WORDS = re.compile(
    r"(?:^|[._])(?:gen_?ai|llm|ai|openai|prompt|completion|assistant|chat|answer)(?:[._]|s?$)",
    re.IGNORECASE,
)
"""Words in attributes of model calls, in any convention."""


def parts_of(
    signals: Sequence[Signal], mapping: MappingFile, left_out: LeftOut
) -> list[AnswerPart]:
    """Return the answers and parts of answers in signals of the same request or trace."""
    parts = [part_of(signal, mapping) for signal in signals]
    for signal, part in zip(signals, parts, strict=True):
        if part is None:
            count_other(signal, left_out)
    read = [part for part in parts if part is not None]
    agents = {part.span_key for part in read if part.is_agent}
    return without_steps(read, parents_of(signals), agents, left_out)


def without_steps(
    parts: Sequence[AnswerPart],
    parents: Mapping[SpanKey, str],
    agents: Set[SpanKey],
    left_out: LeftOut,
) -> list[AnswerPart]:
    """Return the parts that are no steps, with agents completed from theirs.

    A call below an agent is a step of it. The answer of the outermost agent is its own last text,
    or else the last one of its steps.
    """
    if not agents:
        return list(parts)
    of_spans: dict[SpanKey, list[AnswerPart]] = defaultdict(list)
    for part in parts:
        of_spans[part.span_key].append(part)
    places = places_of(parents, agents)
    steps: dict[SpanKey, list[AnswerPart]] = defaultdict(list)
    kept: dict[SpanKey, list[AnswerPart]] = {}
    for key, of_span in of_spans.items():
        agent = places[key].agent if key in places else None
        step = joined(of_span)
        if agent not in {None, key} and (step.content.answered or step.is_agent):
            steps[agent or key].append(step)
            left_out.add(OmissionReason.STEPS)
        else:
            kept[key] = of_span
    return [
        _with_steps(part, steps[key]) if part.is_agent else part
        for key, of_span in kept.items()
        for part in of_span
    ]


def parents_of(spans: Iterable[Signal | AnswerPart]) -> dict[SpanKey, str]:
    """Return the id of each span's parent; empty for roots."""
    return {(span.trace_id, span.span_id): span.parent_id for span in spans if span.is_span}


class Place(NamedTuple):
    """The position of a span in its trace."""

    agent: SpanKey | None
    """The outermost agent among the span and its ancestors."""
    is_below_root: bool
    """True if all ancestors are known."""


def places_of(
    parents: Mapping[SpanKey, str], agents: Set[SpanKey] = frozenset()
) -> dict[SpanKey, Place]:
    """Return the place of each span; in a cycle of parents, no span is below a root."""
    places: dict[SpanKey, Place] = {}
    for key in parents:
        path: dict[SpanKey, None] = {}
        above = key
        while above in parents and above not in places and above not in path:
            path[above] = None
            above = (above[0], parents[above])
        place = places.get(above) or Place(None, is_below_root=not above[1])
        for span in reversed(path):
            agent = place.agent or (span if span in agents else None)
            place = places[span] = Place(agent, place.is_below_root)
    return places


def _with_steps(agent: AnswerPart, steps: Sequence[AnswerPart]) -> AnswerPart:
    """Return the part of an agent, completed from its steps."""
    ordered = sorted(steps, key=lambda part: part.at_ns, reverse=True)
    content = agent.content
    if content.text is None and content.reason is None and ordered:
        answered = [part.content for part in ordered if part.content.text is not None]
        last = (answered or [ordered[0].content])[0]
        prompt = content.prompt or ordered[-1].content.prompt
        content = replace(last, prompt=prompt, model=content.model or last.model)
    groups: dict[str, str] = {}
    facts: dict[str, str] = {}
    for part in (*ordered, agent):
        groups |= part.groups
        facts |= part.facts
    unit = agent.unit or next((part.unit for part in ordered if part.unit), None)
    return replace(agent, content=content, unit=unit, groups=groups, facts=facts)


def count_other(signal: Signal, left_out: LeftOut) -> None:
    """Count a signal outside of answers."""
    if kind_of(signal) is SpanKind.OTHER:
        left_out.add(OmissionReason.OTHER)
    elif any(map(AI_WORDS.search, signal.attributes)):
        left_out.add(OmissionReason.UNREAD, signal.attributes)
    else:
        left_out.add(OmissionReason.NO_CALL, signal.attributes)


def count_unanswered(part: AnswerPart, left_out: LeftOut) -> None:
    """Count a part without an answer that nothing will complete."""
    left_out.add(OmissionReason.AGENTS if part.is_agent else OmissionReason.UNREAD, part.names)


def has_unknown_texts(part: AnswerPart) -> bool:
    """Return whether a part has attributes of a model call beside those of GenAI."""
    known = ("gen_ai.", "openai.", "biaswatch.")
    return any(not name.startswith(known) and AI_WORDS.search(name) for name in part.names)
