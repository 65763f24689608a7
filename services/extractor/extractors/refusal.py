"""Whether a text declines what it was asked, said at its beginning."""

from biaswatch.services.extractor.domain import Unscorable
from biaswatch.shared.parsing.refusals import declines

VERSION = "2"
FEATURES = ("refused",)
INSTRUMENT = "patterns of declining, English; no model"


def measure(text: str) -> dict[str, float | None]:
    """Return 1 where the text declines and 0 where it does not."""
    if not text.strip():
        raise Unscorable("empty text")
    return {"refused": float(declines(text))}
