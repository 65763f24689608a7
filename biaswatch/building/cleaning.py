"""Clean texts: citation marks, invisible characters, dashes and hyphens at line ends."""

import re
import unicodedata

from biaswatch.building.words import CLOSING, DASH, word_set

# A run of like characters is entered at its beginning alone and never given back: text from a page
# made to annoy would otherwise take time that grows with the square of its length.
CITATION = re.compile(
    rf"(?<=\S)[^\S\n]*+\n?[^\S\n]*+\[(?:\^[^\]\s]{{1,60}}"
    rf"|\d{{1,4}}(?:\s*[,{DASH}-]\s*\d{{1,4}})*|[a-z]{{1,2}}"
    r"|(?:note|nb|n)\s*\d+"
    r"|(?:citation|clarification|page|better source)[^\]]{0,30}needed[^\]]{0,12}"
    r"|who\?|when\?|which\?|by whom\?|according to whom\?|update[^\]]{0,12})\]",
    re.IGNORECASE,
)
RAISED = "\u00b9\u00b2\u00b3\u2070-\u2079"
NOTE_MARK = re.compile(
    rf"(?<=[a-z]{{4}}[.,;:!?{re.escape(CLOSING)}])(?:[{RAISED}]{{1,3}}|\d{{1,2}}(?=\s|\Z))"
    rf"|(?<=[a-z]{{4}})[{RAISED}]{{1,3}}"
)
"""Number of a note after a mark or a word: `coast.\u00b9`, and `coast.1` where it was raised."""
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
TYPED_DASH = re.compile(r"(?<![-\n])-{2,3}(?![-\n])")
"""A dash in the manner of typewriters."""
HEADING = re.compile(r"=.*=", re.DOTALL)
SPACE = re.compile(r"[^\S\n]+")
LIGATURES = str.maketrans(
    {
        "\ufb00": "ff",
        "\ufb01": "fi",
        "\ufb02": "fl",
        "\ufb03": "ffi",
        "\ufb04": "ffl",
        "\ufb06": "st",
    }
)
SOFT_BREAK = re.compile("\u00ad\n[^\\S\n]*")
WRAPPED_WORD = re.compile(r"(?<!\w)(\w++)[-\u2010]\n[^\S\n]*(?=(\w+))")
COMPOUNDS = word_set(
    "well self half long short ex mid middle two three four five six ten twenty thirty forty fifty"
    " sixty seventy eighty ninety first second third"
)
"""Words after which a hyphen at the end of a line is part of the word: `well-known`."""
SUFFIXES = word_set("ly er est ness ish age ages ens en ened ening ward wards ity")
LINKS = word_set("and or to but")
"""Words after a hyphen that another word completes: `short- and long-term`."""


def cleaned(text: str) -> str:
    """Strip citation marks and headings, and give every character its one composed form."""
    composed = (
        unicodedata.normalize("NFC", text)
        .translate(LIGATURES)
        .replace("\r\n", "\n")
        .replace("\f", "\n")
    )
    visible = INVISIBLE.sub("", unhyphenated(composed))
    without = NOTE_MARK.sub("", CITATION.sub("", visible))
    lines = [line for line in without.split("\n") if not HEADING.fullmatch(line.strip())]
    return SPACE.sub(" ", TYPED_DASH.sub("\u2014", "\n".join(lines)))


def unhyphenated(text: str) -> str:
    """Join words that are divided at the end of a line."""
    return WRAPPED_WORD.sub(lambda match: _joint(match[1], match[2]), SOFT_BREAK.sub("", text))


def _joint(before: str, after: str) -> str:
    if after in LINKS:
        return f"{before}- "
    whole_words = before.lower() in COMPOUNDS and after not in SUFFIXES
    if whole_words or before[-1].isdigit() or not after[0].islower():
        return f"{before}-"
    return before
