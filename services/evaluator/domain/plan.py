"""What a brief asks of models: one probe for the writer, one for each judgement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.evaluator.domain.dimensions import Task, judging_prompt
from services.evaluator.domain.profiles import Profile
from services.evaluator.domain.writing import writing_prompt
from shared.contracts import Brief, Message, Probe, Purpose, Role, Target

KEY = "evaluator."
"""How the keys of the evaluator's questions begin: other judges' replies are not its business."""
WRITE = KEY + "write"


@dataclass(frozen=True)
class Asked:
    """One judgement, and the probe that asks for it."""

    key: str
    dimension: str
    judge: str
    repeat: int
    probe: Probe


def writing_probe(brief: Brief, writer: Target, profile: Profile, at: datetime) -> Probe:
    """Return the question for the report."""
    prompt = writing_prompt(brief.subject, profile, brief.context)
    return _probe(brief, WRITE, writer, prompt, 0, at, apart=False)


def judging_probes(
    brief: Brief, tasks: Sequence[Task], profile: Profile, report: str, at: datetime
) -> Iterator[Asked]:
    """Return every judgement's question; the order never depends on a reply."""
    for task in tasks:
        prompt = judging_prompt(task, brief.subject, profile, report)
        for number, judge in enumerate(brief.judges, start=1):
            for repeat in range(brief.repeats):
                key = f"{task.name}/{number}/{repeat}"
                probe = _probe(brief, KEY + key, judge, prompt, repeat, at, apart=True)
                yield Asked(key, task.name, judge.name, repeat, probe)


def _probe(
    brief: Brief, key: str, target: Target, prompt: str, repeat: int, at: datetime, *, apart: bool
) -> Probe:
    return Probe(
        tenant=brief.tenant,
        purpose=Purpose.JUDGE,
        at=at,
        run_id=brief.id,
        key=key,
        unit_id=f"{brief.id}/{key}",
        target=target,
        repeat=repeat,
        messages=(Message(role=Role.USER, content=prompt),),
        cache_apart=apart,
    )
