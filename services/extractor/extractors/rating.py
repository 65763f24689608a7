"""A rating stated in a text."""

from collections.abc import Mapping

from biaswatch.services.extractor.domain import Extractor, Reading, ReadingExtractor, Unscorable
from biaswatch.shared.parsing import Unreadable, rating_in


def _measure(reading: Reading) -> Mapping[str, float | None]:
    """Return the rating; raise Unscorable if the text states none or several."""
    try:
        return {"rating": rating_in(reading.text, reading.scale, cut_off=reading.cut_off)}
    except Unreadable as error:
        raise Unscorable(str(error)) from None


EXTRACTORS: Mapping[str, Extractor] = {
    "rating": ReadingExtractor(
        "rating", "3", ("rating",), "patterns for a stated rating; no model", _measure
    )
}
