"""Interpretations as people ask for them, and as they are told of."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from shared.contracts import Brief, Evaluation, Purpose, Subject, derived_id, parse_target
from shared.contracts.identity import RecordId, Token
from shared.errors import UsageError


class BriefRequest(BaseModel):
    """An interpretation a person asks for: written by a target, or given; judged by targets."""

    model_config = ConfigDict(extra="forbid")

    run_id: RecordId | None = None
    subject: Subject
    profile: Token = "general"
    writer: str | None = None
    judges: list[str] = []
    repeats: PositiveInt = 1
    dimensions: list[Token] = []
    report: str = Field(default="", max_length=100_000)
    context: str = Field(default="", max_length=100_000)
    nonce: str = ""


class Interpretation(BaseModel):
    """An interpretation that was asked for, and what came of it."""

    brief_id: str
    evaluation: Evaluation | None = None
    """Null while it is under way."""


def brief_of(asked: BriefRequest, at: datetime) -> Brief:
    """Return the brief; texts stand in its id by their hash.

    Raises
    ------
    UsageError
        A target is wrong, or there is neither a report nor anybody to write one.
    """
    if not asked.report.strip() and asked.writer is None:
        raise UsageError("Name a target that writes the report, or give a report to be judged.")
    if len(set(asked.judges)) < len(asked.judges):
        raise UsageError("A judge is named twice; ask it repeatedly with repeats instead.")
    return Brief(
        purpose=Purpose.JUDGE,
        at=at,
        run_id=asked.run_id,
        subject=asked.subject,
        profile=asked.profile,
        writer=parse_target(asked.writer) if asked.writer else None,
        judges=tuple(parse_target(judge) for judge in asked.judges),
        repeats=asked.repeats,
        dimensions=tuple(asked.dimensions),
        report=asked.report,
        context=asked.context,
        texts_hash=derived_id("texts", asked.report, asked.context),
        nonce=asked.nonce,
    )
