"""How an extractor does: texts measured, and what went wrong last."""

from collections.abc import Iterable

from services.extractor.domain.contained import NOT_FINITE, WRONG_FEATURES

FAILED = ("the extractor", NOT_FINITE, WRONG_FEATURES, "model")
"""How reasons begin that tell of the extractor, and not of the text."""


class Tally:
    """Counted by the thread that measures, read by the one that announces."""

    def __init__(self) -> None:
        self.texts = 0
        self.last_error: str | None = None
        self._read = 0

    def note(self, reasons: Iterable[str | None]) -> None:
        """Count texts, by the reason each has no numbers for, or None."""
        for reason in reasons:
            self.texts += 1
            if reason and reason.startswith(FAILED):
                self.last_error = reason

    def fail(self, sentence: str) -> None:
        """Remember what went wrong with no text in particular."""
        self.last_error = sentence

    def rate_per_s(self, over_s: float) -> float:
        """Return the texts a second since this was last asked."""
        new, self._read = self.texts - self._read, self.texts
        return new / over_s
