"""What judges said of texts whose grade is known, and what that shows of each judge."""

from typing import Annotated

from pydantic import Field, NonNegativeInt

from biaswatch.shared.contracts.diagnosis import Estimate
from biaswatch.shared.contracts.identity import Name, Token
from biaswatch.shared.contracts.record import Part

KnownScore = Annotated[float, Field(ge=0, le=1)]


class ControlReply(Part):
    """One judge's score of one text whose grade is known."""

    key: Name
    """Its name within the evaluation."""
    judge: Name
    """Who was asked."""
    dimension: Token
    """On which dimension."""
    text: Token
    """What is wrong with it: perfect, faulty, off_topic, empty."""
    changed: Token | None = None
    """For a copy that asks the same in another way: padded, reversed."""
    repeat: NonNegativeInt = 0
    """Which repeat it is."""
    at_least: KnownScore
    """The lowest score that is right."""
    at_most: KnownScore
    """The highest."""
    score: KnownScore | None = None
    """What the judge said, or null where it cannot be read."""
    copied: bool = False
    """Whether the reply holds the text itself."""
    reason: str | None = None
    """Why there is no score."""

    @property
    def right(self) -> bool:
        """Whether the score is one that the text deserves."""
        return self.score is not None and self.at_least <= self.score <= self.at_most


class JudgeStanding(Part):
    """What the known texts show of one judge."""

    judge: Name
    """Who."""
    right: NonNegativeInt
    """Known texts it graded rightly; copies of them are not counted."""
    asked: NonNegativeInt
    """Known texts it was asked about."""
    fails: str | None = None
    """Why it is not to be believed, if so."""
    counts: bool = True
    """Whether its votes count."""
    length_bias: Estimate
    """The mean score of padded copies minus that of the same texts without padding."""
    position_bias: Estimate
    """The mean score under a scale listed from its low end minus that from its high end."""
