"""How guarded a text is: words and phrases that weaken a claim, for each hundred words."""

from biaswatch.services.extractor.domain import Unscorable
from biaswatch.services.extractor.domain.english_text import phrase_pattern, words_of

VERSION = "1"
FEATURES = ("hedges_per_100_words",)
INSTRUMENT = "a list of hedges, English; no model"

HEDGES = phrase_pattern(
    """
    about, almost, apparently, appear, appears, arguably, around, assume, believe, could,
    doubt, estimate, fairly, frequently, generally, guess, largely, likely, mainly, may, maybe,
    might, mostly, occasionally, often, partly, perhaps, plausibly, possible, possibly,
    potentially, presumably, probable, probably, quite, rather, relatively, roughly, seem,
    seemed, seemingly, seems, should, sometimes, somewhat, suggest, suggests, supposedly,
    suspect, tend, tends, typically, uncertain, unclear, unlikely, usually, would, as far as I
    know, hard to say, in general, in my opinion, in some cases, it depends, kind of, more or
    less, not sure, sort of, to some extent
    """
)


def measure(text: str) -> dict[str, float | None]:
    """Return the hedges per hundred words."""
    words = words_of(text)
    if not words:
        raise Unscorable("no words")
    return {"hedges_per_100_words": 100 * len(HEDGES.findall(text)) / len(words)}
