"""Numbers and sizes of batches of production answers."""

import secrets
from collections.abc import Iterable, Iterator

from biaswatch.shared.contracts import Exchange
from biaswatch.shared.requests.traffic import SentBatch

FEW = 8
FEW_CHARACTERS = 32 * 1024
"""So many answers, with so much text, take no longer than a thread does."""
PART_ANSWERS, PART_BYTES = 64, 1024 * 1024
"""What is published at once of a large batch ends at either."""


def drawn_number() -> int:
    """Draw the number of a batch: no two sendings of an answer are likely to have the same."""
    return secrets.randbits(43)


def are_few(sent: SentBatch) -> bool:
    """Return whether a batch takes no longer than a thread does."""
    if len(sent.responses) > FEW:
        return False
    texts = (
        (each.text, each.prompt, *(m.content for m in each.messages)) for each in sent.responses
    )
    return sum(len(text or "") for some in texts for text in some) <= FEW_CHARACTERS


def in_parts(exchanges: Iterable[Exchange]) -> Iterator[list[Exchange]]:
    """Yield the exchanges of a large batch, some at a time."""
    part, size = list[Exchange](), 0
    for exchange in exchanges:
        part.append(exchange)
        size += exchange.message_bytes()
        if len(part) == PART_ANSWERS or size >= PART_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part
