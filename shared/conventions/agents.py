"""Agents in traces: the spans below an agent are its steps, and the agent has one answer."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

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
    """Return the answers and parts of answers in signals of the same request or trace.

    A call below an agent is a step of it. The answer of the outermost agent is its own last text,
    or else the last one of its steps.
    """
    parts = [part_of(signal, mapping) for signal in signals]
    for signal, part in zip(signals, parts, strict=True):
        if part is None:
            _count(signal, left_out)
    pairs = [(_key(s), part) for s, part in zip(signals, parts, strict=True) if part is not None]
    agents = {key for key, part in pairs if part.is_agent}
    return _without_steps(pairs, _outermost(signals, agents), left_out) if agents else [
        part for _, part in pairs
    ]  # fmt: skip


def _without_steps(
    pairs: Sequence[tuple[SpanKey, AnswerPart]],
    outermost: Mapping[SpanKey, SpanKey],
    left_out: LeftOut,
) -> list[AnswerPart]:
    """Return the parts that are no steps, with agents completed from theirs."""
    of_spans: dict[SpanKey, list[AnswerPart]] = defaultdict(list)
    for key, part in pairs:
        of_spans[key].append(part)
    steps: dict[SpanKey, list[AnswerPart]] = defaultdict(list)
    kept: dict[SpanKey, list[AnswerPart]] = {}
    for key, parts in of_spans.items():
        agent = outermost.get(key, key)
        step = joined(parts)
        if agent != key and (step.content.answered or step.is_agent):
            steps[agent].append(step)
            left_out.add(OmissionReason.STEPS)
        else:
            kept[key] = parts
    return [
        _with_steps(part, steps[key]) if part.is_agent else part
        for key, parts in kept.items()
        for part in parts
    ]


def _key(signal: Signal) -> SpanKey:
    return signal.trace_id, signal.span_id


def _outermost(signals: Sequence[Signal], agents: Set[SpanKey]) -> dict[SpanKey, SpanKey]:
    """Return the outermost agent of each span that is an agent or below one."""
    parents = {_key(signal): signal.parent_id for signal in signals if signal.is_span}
    outermost: dict[SpanKey, SpanKey] = {}
    for key in parents:
        seen: set[SpanKey] = set()
        above = key
        while above in parents and above not in seen:
            seen.add(above)
            if above in agents:
                outermost[key] = above
            above = (above[0], parents[above])
    return outermost


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


def _count(signal: Signal, left_out: LeftOut) -> None:
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
