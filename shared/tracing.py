"""Trace contexts of messages, and the tracer that writes spans.

Nothing is traced until a tracer is set. Then the journey of each record through the services is one
trace.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

HEADER = "traceparent"
"""The header of messages with the context in the format of W3C Trace Context."""

_CONTEXT: ContextVar[str] = ContextVar("trace_context", default="")


@dataclass(frozen=True)
class HandledBatch:
    """Attributes of the span of a batch, without texts and keys."""

    stage: str
    """The stage's name."""
    kind: str
    """The kind of record."""
    record_ids: Sequence[str]
    """The ids of the records."""
    contexts: Sequence[str]
    """The trace context of each record; empty without one."""
    attempts: Sequence[int] = ()
    """The number of deliveries of each record."""


class JourneyTracer(Protocol):
    """Writes spans without blocking; drops those it cannot write."""

    def handling(self, batch: HandledBatch) -> AbstractContextManager[Sequence[str]]:
        """Return a context manager for the span of a batch, which yields the records' contexts."""

    def publishing(self, kind: str, record_id: str) -> str:
        """Return the context of a record that starts a trace."""


@dataclass
class _State:
    tracer: JourneyTracer | None = None


_STATE = _State()


def set_tracer(tracer: JourneyTracer | None) -> None:
    """Set the tracer; None stops tracing."""
    _STATE.tracer = tracer


def handling(batch: HandledBatch) -> AbstractContextManager[Sequence[str]]:
    """Return a context manager for the span of a batch; without a tracer it yields nothing."""
    return _STATE.tracer.handling(batch) if _STATE.tracer else nullcontext(())


@contextmanager
def within(context: str) -> Iterator[None]:
    """Run the body within a trace context; an empty one means none."""
    token = _CONTEXT.set(context)
    try:
        yield
    finally:
        _CONTEXT.reset(token)


def current_context() -> str:
    """Return the current trace context; empty without one."""
    return _CONTEXT.get()


def is_tracing() -> bool:
    """Tell whether spans are written."""
    return _STATE.tracer is not None


def outgoing_headers(kind: str, record_id: str) -> Mapping[str, str]:
    """Return the header of a published record, which continues or starts a trace."""
    if _STATE.tracer is None:
        return {}
    context = _CONTEXT.get() or _STATE.tracer.publishing(kind, record_id)
    return {HEADER: context} if context else {}
