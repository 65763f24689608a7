"""Bundles: records of one kind that go in one message, a line of JSON for each."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MOST_RECORDS = 64
"""The most records of a message: a reader that has failed on one reads them all again."""
MOST_BYTES = 64 * 1024
"""A message of several is at most so large; a larger record goes alone."""
RECORDS = "Biaswatch-Records"
"""The header that says how many records a message has; one without it has one, in any form."""
MESSAGE_NAME = "Nats-Msg-Id"

_LINE = b"\n"


@dataclass
class Bundle:
    """Records that are to go together: of one kind, to one subject."""

    names: list[str] = field(default_factory=list)
    """`<record id>/<publication>` of each."""
    lines: list[bytes] = field(default_factory=list)
    publication: int = 0
    """The latest of their publications: what follows from any of them goes under it."""
    size: int = 0

    def takes(self, data: bytes) -> bool:
        """Tell whether one more record fits."""
        return len(self.lines) < MOST_RECORDS and self.size + len(data) < MOST_BYTES

    def add(self, record_id: str, data: bytes, publication: int) -> None:
        """Add a record, as its encoded JSON: that has no line breaks."""
        self.names.append(f"{record_id}/{publication}")
        self.lines.append(data)
        self.publication = max(self.publication, publication)
        self.size += len(data) + len(_LINE)

    def data(self) -> bytes:
        """Return the body of the message."""
        return _LINE.join(self.lines)

    def headers(self) -> dict[str, str]:
        """Return the headers: a record alone goes under its own name.

        Several go under a name of all of them: what is sent again as it was is known to the bus.
        """
        if len(self.names) == 1:
            return {MESSAGE_NAME: self.names[0]}
        together = hashlib.sha256(" ".join(self.names).encode()).hexdigest()[:32]
        return {MESSAGE_NAME: f"{together}/{self.publication}", RECORDS: str(len(self.names))}


def records_in(data: bytes, headers: Mapping[str, str]) -> Sequence[bytes]:
    """Return the records of a message; what is not what its header says is taken as one.

    That one cannot be decoded, and is given up whole: nobody makes many dead letters of one
    message.
    """
    said = headers.get(RECORDS)
    if said is None:
        return (data,)
    lines = data.split(_LINE, MOST_RECORDS)
    return lines if said == str(len(lines)) and len(lines) <= MOST_RECORDS else (data,)


def publication_of(message_id: str) -> int:
    """Return the number in `<name>/<publication>`; 0 where there is none."""
    if message_id.endswith("/0"):  # the usual case
        return 0
    number = message_id.rpartition("/")[2]
    return int(number) if number.isdecimal() else 0
