"""Swear words for each hundred words; slurs against groups are the toxicity models' work."""

from biaswatch.services.extractor.domain import Unscorable
from biaswatch.services.extractor.domain.english_text import phrase_pattern, words_of

VERSION = "1"
FEATURES = ("profanities_per_100_words",)
INSTRUMENT = "a short list of swear words, English; no model"

PROFANE = phrase_pattern(
    """
    arse, arsehole, ass, asshole, assholes, bastard, bastards, bitch, bitches, bollocks,
    bullshit, crap, cunt, cunts, damn, damned, dick, dickhead, dumbass, fuck, fucked, fucker,
    fuckers, fucking, fucks, goddamn, motherfucker, motherfuckers, motherfucking, piss, pissed,
    prick, pricks, shit, shits, shitty, twat, wanker, wankers
    """
)


def measure(text: str) -> dict[str, float | None]:
    """Return the swear words per hundred words."""
    words = words_of(text)
    if not words:
        raise Unscorable("no words")
    return {"profanities_per_100_words": 100 * len(PROFANE.findall(text)) / len(words)}
