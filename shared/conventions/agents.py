"""Agents and calls in traces: the calls below another one are its steps, without own answers."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from biaswatch.shared.conventions.answers import AnswerPart, joined, part_of
from biaswatch.shared.conventions.kinds import SpanKind, kind_of
from biaswatch.shared.conventions.left_out import LeftOut, OmissionReason
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.lookup import grouped

SpanKey = tuple[str, str]
"""Trace and span."""
AI_WORDS = re.compile(
    r"(?:^|[._])(?:gen_?ai|llm|ai|openai|prompt|completion|assistant|chat|answer)(?:[._]|s?$)",
    re.IGNORECASE,
)
"""Words in attributes of model calls, in any convention."""


class SpanPosition(NamedTuple):
    """The position of a span in its trace."""

    head: SpanKey | None
    """The outermost agent or call among the span and its ancestors."""
    top: SpanKey
    """The first unknown ancestor; its span id is empty if all are known."""

    @property
    def is_below_root(self) -> bool:
        """True if all ancestors are known."""
        return not self.top[1]


def parts_of(
    signals: Sequence[Signal], mapping: MappingFile, left_out: LeftOut
) -> list[AnswerPart]:
    """Return the answers and parts of answers in signals of the same request or trace."""
    pairs = [(signal, part_of(signal, mapping)) for signal in signals]
    parts = [part for _, part in pairs if part is not None]
    positions = positions_of(parents_of(signals), heads_of(parts))
    for signal, part in pairs:
        if part is None:
            count_other(signal, positions, left_out)
    return without_steps(parts, positions, left_out)


def without_steps(
    parts: Sequence[AnswerPart], positions: Mapping[SpanKey, SpanPosition], left_out: LeftOut
) -> list[AnswerPart]:
    """Return the parts that are not steps, with agents and calls completed from theirs.

    A call below an agent, or below a call that another library traced too, is a step of it. The
    answer of the outermost one is its own last text, or else the last one of its steps.
    """
    of_spans = grouped((part.span_key, part) for part in parts)
    steps: dict[SpanKey, list[AnswerPart]] = defaultdict(list)
    kept: dict[SpanKey, list[AnswerPart]] = {}
    for key, of_span in of_spans.items():
        head = positions[key].head if key in positions else None
        if head is None or head == key:
            kept[key] = of_span
            continue
        step = joined(of_span)
        if step.content.answered or step.is_agent or _answered(of_spans.get(head, ())):
            steps[head].append(step)
            left_out.add(OmissionReason.STEPS)
        else:
            kept[key] = of_span
    return [
        _with_steps(part, steps[key]) if part.is_span and key in steps else part
        for key, of_span in kept.items()
        for part in of_span
    ]


def _answered(parts: Iterable[AnswerPart]) -> bool:
    return any(part.content.answered for part in parts)


def heads_of(parts: Iterable[AnswerPart]) -> dict[SpanKey, bool]:
    """Return the spans of agents (true) and calls (false); the outermost ones have answers."""
    return {part.span_key: part.is_agent for part in parts if part.is_span and not part.is_link}


def parents_of(spans: Iterable[Signal | AnswerPart]) -> dict[SpanKey, str]:
    """Return the id of each span's parent; empty for roots."""
    return {(span.trace_id, span.span_id): span.parent_id for span in spans if span.is_span}


def positions_of(
    parents: Mapping[SpanKey, str], heads: Mapping[SpanKey, bool]
) -> dict[SpanKey, SpanPosition]:
    """Return the position of each span; in a cycle of parents, no span is below a root.

    A span with an unknown ancestor is below the agent of its trace if there is one, unless the
    agent has the same unknown ancestor.
    """
    positions = _known_positions(parents, heads)
    agents = _single_agents(positions, [key for key, is_agent in heads.items() if is_agent])
    for key, position in positions.items():
        agent = None if position.is_below_root else agents.get(key[0])
        if agent is not None and positions[agent].top != position.top:
            positions[key] = position._replace(head=agent)
    return positions


def _single_agents(
    positions: Mapping[SpanKey, SpanPosition], agents: Iterable[SpanKey]
) -> dict[str, SpanKey]:
    """Return the outermost agent of each trace with one; of several, the one below the root."""
    by_trace = grouped(
        (key[0], key) for key in agents if key in positions and positions[key].head == key
    )
    single: dict[str, SpanKey] = {}
    for trace, keys in by_trace.items():
        candidates = [key for key in keys if positions[key].is_below_root] or keys
        if len(candidates) == 1:
            single[trace] = candidates[0]
    return single


def _known_positions(
    parents: Mapping[SpanKey, str], heads: Mapping[SpanKey, bool]
) -> dict[SpanKey, SpanPosition]:
    """Return the position of each span by its known ancestors."""
    positions: dict[SpanKey, SpanPosition] = {}
    for key in parents:
        path: dict[SpanKey, None] = {}
        above = key
        while above in parents and above not in positions and above not in path:
            path[above] = None
            above = (above[0], parents[above])
        position = positions.get(above) or SpanPosition(None, above)
        for span in reversed(path):
            head = position.head or (span if span in heads else None)
            position = positions[span] = SpanPosition(head, position.top)
    return positions


def _with_steps(head: AnswerPart, steps: Sequence[AnswerPart]) -> AnswerPart:
    """Return the part of an agent or a call, completed from its steps."""
    ordered = sorted(steps, key=lambda part: part.at_ns, reverse=True)
    content = head.content
    if content.text is None and content.reason is None and ordered:
        answered = [part.content for part in ordered if part.content.text is not None]
        last = (answered or [ordered[0].content])[0]
        content = replace(last, prompt=content.prompt, model=content.model or last.model)
    if ordered:
        content = replace(
            content,
            prompt=content.prompt or ordered[-1].content.prompt,
            model=content.model or ordered[0].content.model,
        )
    groups: dict[str, str] = {}
    facts: dict[str, str] = {}
    for part in (*ordered, head):
        groups |= part.groups
        facts |= part.facts
    unit = head.unit or next((part.unit for part in ordered if part.unit), None)
    return replace(head, content=content, unit=unit, groups=groups, facts=facts)


def count_other(
    signal: Signal, positions: Mapping[SpanKey, SpanPosition], left_out: LeftOut
) -> None:
    """Count a signal outside of answers."""
    position = positions.get((signal.trace_id, signal.span_id))
    is_step = position is not None and position.head is not None
    if is_step or kind_of(signal) is SpanKind.OTHER:
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
