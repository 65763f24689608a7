"""Errors and sentences about answers that no monitor watches."""

from biaswatch.shared.contracts import Exchange
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.requests.traffic import BatchHeader


class UnwatchedError(NotFoundError):
    """No monitor watches the live system that answers were sent of, not even a paused one."""


def counted(answers: int) -> str:
    """Say that answers were counted."""
    which = f"These {answers} answers are" if answers > 1 else "This answer is"
    return f"{which} counted as unwatched, and not kept."


def unwatched(who: str, sent: BatchHeader | Exchange) -> str:
    """Say that no monitor takes these answers, and what to do."""
    source = sent.source
    if sent.history:
        return (
            f"No {who} reads the past of {source}. Begin with `biaswatch ingest {source} FILE"
            f" --history`, or POST /v1/history/{source}"
        )
    return unwatched_system(who, source)


def unwatched_system(who: str, source: str) -> str:
    """Say that no monitor watches a live system, and what to do."""
    return f"No {who} watches the traffic {source}. Apply one with the target traffic:{source}"
