"""Probes for a brief's questions, and strict parsing of replies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from biaswatch.services.evaluator.domain.rubric import (
    Dimension,
    JudgementTask,
    Profile,
    judging_prompt,
)
from biaswatch.shared.contracts import (
    Brief,
    Ending,
    Message,
    Probe,
    Purpose,
    Response,
    Role,
    Target,
)
from biaswatch.shared.contracts.probe import closed_object
from biaswatch.shared.parsing import Unreadable, json_in, texts_in

KEY_PREFIX = "evaluator."
"""Prefix of the keys of the evaluator's questions."""
CUT_OFF = "length"
MAX_PHRASES = 20


@dataclass(frozen=True)
class JudgementRequest:
    """One judgement, and the probe that asks for it."""

    key: str
    dimension: str
    judge: str
    repeat: int
    probe: Probe


def judging_probes(
    brief: Brief, tasks: Sequence[JudgementTask], profile: Profile, report: str, at: datetime
) -> Iterator[JudgementRequest]:
    """Yield the question of every judgement; half of them list the scale from its low end."""
    for place, task in enumerate(tasks):
        prompts = [
            judging_prompt(task, brief.subject, profile, report, from_low=low)
            for low in (False, True)
        ]
        for number, judge in enumerate(brief.judges, start=1):
            for repeat in range(brief.repeats):
                prompt = prompts[(place + repeat) % 2]
                key = f"{task.name}/{number}/{repeat}"
                schema = score_schema(task.dimension)
                probe = judging_probe(brief, key, judge, prompt, repeat, at, schema)
                yield JudgementRequest(key, task.name, judge.name, repeat, probe)


def judging_probe(
    brief: Brief,
    key: str,
    judge: Target,
    prompt: str,
    repeat: int,
    at: datetime,
    answer_schema: dict[str, JsonValue] | None = None,
) -> Probe:
    """Return the question to a judge, which bypasses the cache."""
    messages = [Message(role=Role.USER, content=prompt)]
    fields = {"at": at, "repeat": repeat, "cache_apart": True, "answer_schema": answer_schema}
    return question(brief, key, judge, messages, **fields)


def score_schema(dimension: Dimension) -> dict[str, JsonValue]:
    """Return the JSON Schema of a grade, for providers that enforce one."""
    text: JsonValue = {"type": "string"}
    fields: dict[str, JsonValue] = {"score": {"type": "number"}, "reasoning": text}
    if dimension.phrases:
        fields["problematic_phrases"] = {"type": "array", "items": text}
    return closed_object(fields)


def question(
    brief: Brief, key: str, target: Target, messages: Sequence[Message], **fields: Any
) -> Probe:
    """Return a question of a brief to a model, with further fields of the probe."""
    defaults = {"at": brief.at, "tenant": brief.tenant, "purpose": Purpose.JUDGE}
    return Probe(
        **(defaults | fields),
        run_id=brief.id,
        key=KEY_PREFIX + key,
        unit_id=f"{brief.id}/{KEY_PREFIX}{key}",
        target=target,
        messages=tuple(messages),
    )


@dataclass(frozen=True)
class JudgeScore:
    """A parsed judgement."""

    score: float
    reasoning: str
    phrases: tuple[str, ...] = ()


def response_text(response: Response | None) -> str:
    """Return the text of a reply; raise Unreadable if it is missing or truncated."""
    if response is None:
        raise Unreadable("no reply came before the deadline")
    if response.ending is not Ending.ANSWERED:
        raise Unreadable(f"the call ended as {response.reason or response.ending.value}")
    if response.text is None:
        raise Unreadable("the reply was purged")
    if response.finish_reason == CUT_OFF:
        raise Unreadable("the reply was cut off at its limit of tokens")
    return response.text


def judgement_in(reply: str) -> JudgeScore:
    """Return a judge's score and reasoning; scores out of range are refused."""
    fields = fields_in(reply)
    score = fields.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise Unreadable("the score is not a number")
    if not 0 <= score <= 1:
        raise Unreadable(f"the score {score:.6g} is outside 0 to 1")
    phrases = fields.get("problematic_phrases") or []
    if not isinstance(phrases, list):
        raise Unreadable("the problematic phrases are not a list")
    return JudgeScore(
        float(score),
        " ".join(texts_in(fields.get("reasoning"))),
        tuple(str(phrase) for phrase in phrases[:MAX_PHRASES]),
    )


def fields_in(reply: str) -> Mapping[str, Any]:
    """Return the JSON object of a reply; only a code fence around it is accepted."""
    text = reply.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json").strip()
    try:
        value = json_in(text)
    except ValueError:
        raise Unreadable("the reply is not JSON") from None
    if not isinstance(value, dict):
        raise Unreadable("the reply is not a JSON object")
    return value


def list_in(fields: object, name: str, count: int | None = None) -> list[Any]:
    """Return a list of a JSON object; raise Unreadable where it does not fit."""
    items = fields.get(name) if isinstance(fields, Mapping) else None
    if not isinstance(items, list):
        raise Unreadable(f"the reply lacks a list `{name}`")
    if count not in {None, len(items)}:
        raise Unreadable(f"the list `{name}` of the reply has {len(items)} items, not {count}")
    return items
