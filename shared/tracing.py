"""Where a record is in its journey: the trace context that messages carry, and who writes spans.

Nothing is traced until somebody sets a tracer; then each record's journey is one trace, from the
service that first published a record of it to the last that handled one.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

HEADER = "traceparent"
"""The header of messages that holds the context, as W3C Trace Context writes it."""

_CONTEXT: ContextVar[str] = ContextVar("trace_context", default="")


@dataclass(frozen=True)
class HandledBatch:
    """What a span says of a batch that a stage handles; no texts, no keys."""

    stage: str
    """The stage's name."""
    kind: str
    """The kind of record."""
    record_ids: Sequence[str]
    """The records, in the order of their contexts."""
    contexts: Sequence[str]
    """The trace context that each came with; empty where it had none."""
    attempts: Sequence[int] = ()
    """How often each was delivered."""


class JourneyTracer(Protocol):
    """Writes spans; what it cannot write it drops, and nobody waits for it."""

    def handling(self, batch: HandledBatch) -> AbstractContextManager[Sequence[str]]:
        """Return a context in which a batch is handled; it gives the context of each record."""

    def publishing(self, kind: str, record_id: str) -> str:
        """Return the context of a record that begins a journey."""


@dataclass
class _Chosen:
    tracer: JourneyTracer | None = field(default=None)


_CHOSEN = _Chosen()


def set_tracer(tracer: JourneyTracer | None) -> None:
    """Trace from now on, or no longer."""
    _CHOSEN.tracer = tracer


def handling(batch: HandledBatch) -> AbstractContextManager[Sequence[str]]:
    """Return a context in which a batch is handled; without a tracer it gives no contexts."""
    return _CHOSEN.tracer.handling(batch) if _CHOSEN.tracer else nullcontext(())


@contextmanager
def within(context: str) -> Iterator[None]:
    """Let what is done inside belong to a trace; an empty context is none."""
    token = _CONTEXT.set(context)
    try:
        yield
    finally:
        _CONTEXT.reset(token)


def current_context() -> str:
    """Return the trace context of what is being done; empty where there is none."""
    return _CONTEXT.get()


def is_tracing() -> bool:
    """Tell whether spans are written."""
    return _CHOSEN.tracer is not None


def outgoing_headers(kind: str, record_id: str) -> Mapping[str, str]:
    """Return the header of a published record: it goes on with its journey, or begins one."""
    if _CHOSEN.tracer is None:
        return {}
    context = _CONTEXT.get() or _CHOSEN.tracer.publishing(kind, record_id)
    return {HEADER: context} if context else {}
