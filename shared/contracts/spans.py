"""The span of a model's call in its owner's traces, and what goes back to it."""

from typing import Annotated

from pydantic import StringConstraints

from biaswatch.shared.contracts.identity import Name, Token
from biaswatch.shared.contracts.record import Part

TraceId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
SpanId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]


class CallSpan(Part):
    """Which span of its owner's traces a call is."""

    trace_id: TraceId
    """The trace, in hexadecimal digits."""
    span_id: SpanId
    """The span within it, in hexadecimal digits."""
    response_id: Name | None = None
    """The provider's id of the answer, where the span names it."""


class EvaluatedSpan(Part):
    """Which measurements of an answer go back to its span."""

    span: CallSpan
    """The span of the call."""
    extractors: tuple[Token, ...]
    """Whose measurements: of an answer that several monitors watch, each goes back once."""
