"""The rank of one option of a list, by its letter, and whether it is ranked first."""

from collections.abc import Mapping

from biaswatch.services.extractor.domain import Extractor, Reading, ReadingExtractor, Unscorable
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.parsing.rankings import ranking_in

NO_OPTIONS = "the suite declares no options, or the probe no expected one"


def _measure(reading: Reading) -> Mapping[str, float | None]:
    """Return the rank of the expected option from 1, and 1 or 0 if it is first."""
    if not reading.options or not reading.expected:
        raise Unscorable(NO_OPTIONS)
    try:
        letters = ranking_in(reading.text, reading.options, cut_off=reading.cut_off)
        rank = letters.index(reading.expected.strip().upper()) + 1
    except Unreadable as error:
        raise Unscorable(str(error)) from None
    except ValueError:
        raise Unscorable(NO_OPTIONS) from None
    return {"rank": float(rank), "selected": float(rank == 1)}


EXTRACTORS: Mapping[str, Extractor] = {
    "ranking": ReadingExtractor(
        "ranking", "1", ("rank", "selected"), "patterns for a stated ranking; no model", _measure
    )
}
