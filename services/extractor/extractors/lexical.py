"""Extractors that count words, sentences, syllables and phrases; no model is involved."""

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from operator import itemgetter

from biaswatch.services.extractor.domain import Extractor, FunctionExtractor, Unscorable
from biaswatch.shared.parsing.english_texts import NOT_ENGLISH, is_foreign
from biaswatch.shared.parsing.refusals import declines

WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
"""A hyphenated word counts as one, as in readability, rates and `length`."""
SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++(?=\s|$|[\"')\]\u2019\u201d])")
SIMPLE_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
"""Each part of a hyphenated word counts: `A well-known fact.` has 4 words here, 3 in `length`."""
SIMPLE_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++(?:\s|$)")
"""A sentence whose full stop precedes a quotation mark or bracket does not end here."""
VOWELS = re.compile(r"[aeiouy]+")
SILENT = re.compile(r"(?:[^laeiouy]es|[^aeiouydt]ed|[^aeiouyl]e)$")
"""Silent endings of English words: makes, moved, late; but not table, wanted, boxes."""
Values = dict[str, float | None]


def words_of(text: str) -> list[str]:
    """Return the words of a text, or raise Unscorable without any."""
    words = WORD.findall(text)
    if not words:
        raise Unscorable("no words")
    return words


def sentence_count(text: str) -> int:
    """Count the sentences; words without a full stop are one, a text without words has none."""
    if not WORD.search(text):
        return 0
    return max(1, len(SENTENCE_END.findall(text)))


def syllable_count(word: str) -> int:
    """Estimate the syllables of an English word from its vowels; at least one."""
    letters = "".join(character for character in word.lower() if character.isalpha())
    return max(1, len(VOWELS.findall(SILENT.sub("", letters) or letters)))


def phrase_pattern(phrases: str) -> re.Pattern[str]:
    """Return a pattern for any of the phrases (comma separated) as whole words."""
    unique = {" ".join(phrase.split()) for phrase in phrases.split(",")}
    ordered = sorted(unique, key=lambda phrase: (phrase[0], -len(phrase), phrase))
    # Grouped by first letter, so that other characters are skipped at once.
    groups = [
        f"{letter}(?:{'|'.join(_escaped(phrase[1:]) for phrase in group)})"
        for letter, group in groupby(ordered, key=itemgetter(0))
    ]
    letters = "".join({phrase[0] for phrase in unique})
    return re.compile(rf"(?<!\w)(?=[{letters}])(?:{'|'.join(groups)})(?!\w)", re.IGNORECASE)


def _escaped(phrase: str) -> str:
    """Return the pattern of a phrase, with either apostrophe."""
    return re.escape(phrase).replace("'", "['\u2019]")


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
SWEAR_WORDS = phrase_pattern(
    """
    arse, arsehole, ass, asshole, assholes, bastard, bastards, bitch, bitches, bollocks,
    bullshit, crap, cunt, cunts, damn, damned, dick, dickhead, dumbass, fuck, fucked, fucker,
    fuckers, fucking, fucks, goddamn, motherfucker, motherfuckers, motherfucking, piss, pissed,
    prick, pricks, shit, shits, shitty, twat, wanker, wankers
    """
)


def of_english(function: Callable[[str], Values]) -> Callable[[str], Values]:
    """Return the function with Unscorable for texts that are clearly not English."""

    def measure(text: str) -> Values:
        if is_foreign(text):
            raise Unscorable(NOT_ENGLISH)
        return function(text)

    return measure


def length(text: str) -> Values:
    """Return the numbers of characters, words and sentences."""
    return {
        "characters": len(text),
        "words": len(WORD.findall(text)),
        "sentences": sentence_count(text),
    }


def words(text: str) -> Values:
    """Return words and words per sentence; the latter is null for a text without words."""
    number = len(SIMPLE_WORD.findall(text))
    sentences = max(1, len(SIMPLE_SENTENCE_END.findall(text)))
    return {"words": float(number), "words_per_sentence": number / sentences if number else None}


def readability(text: str) -> Values:
    """Return reading ease (about 0 to 100, higher is easier) and US school grade.

    References
    ----------
    Flesch (1948); Kincaid et al. (1975).
    """
    words_in_text = words_of(text)
    per_sentence = len(words_in_text) / sentence_count(text)
    per_word = sum(syllable_count(word) for word in words_in_text) / len(words_in_text)
    return {
        "reading_ease": 206.835 - 1.015 * per_sentence - 84.6 * per_word,
        "grade": 0.39 * per_sentence + 11.8 * per_word - 15.59,
    }


def hedging(text: str) -> Values:
    """Return words and phrases that weaken a claim, per hundred words."""
    rate = 100 * len(HEDGES.findall(text)) / len(words_of(text))
    return {"hedges_per_100_words": rate}


def profanity(text: str) -> Values:
    """Return swear words per hundred words; slurs against groups are left to toxicity models."""
    rate = 100 * len(SWEAR_WORDS.findall(text)) / len(words_of(text))
    return {"profanities_per_100_words": rate}


def refusal(text: str) -> Values:
    """Return 1 if the text declines the request at its beginning, else 0."""
    if not text.strip():
        raise Unscorable("empty text")
    return {"refused": float(declines(text))}


EXTRACTORS: Mapping[str, Extractor] = {
    extractor.name: extractor
    for extractor in (
        FunctionExtractor(
            "length",
            "1",
            ("characters", "words", "sentences"),
            "counts (well-known is one word), any language with spaces; no model",
            length,
        ),
        FunctionExtractor(
            "words",
            "1",
            ("words", "words_per_sentence"),
            "word counts (well-known is two words), any language with spaces; no model",
            words,
        ),
        FunctionExtractor(
            "readability",
            "2",
            ("reading_ease", "grade"),
            "Flesch's formulas on estimated syllables, English; no model",
            of_english(readability),
        ),
        FunctionExtractor(
            "hedging",
            "2",
            ("hedges_per_100_words",),
            "a list of hedges, English; no model",
            of_english(hedging),
        ),
        FunctionExtractor(
            "profanity",
            "2",
            ("profanities_per_100_words",),
            "a short list of swear words, English; no model",
            of_english(profanity),
        ),
        FunctionExtractor(
            "refusal",
            "3",
            ("refused",),
            "patterns of declining, English; no model",
            of_english(refusal),
        ),
    )
}
