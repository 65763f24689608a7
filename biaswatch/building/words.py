"""English word lists of the rules, and whole-word matching."""

import re
from functools import lru_cache

OPENING = "\"'\u201c\u2018\u00ab(["
"""Quotes and brackets before a sentence."""
CLOSING = "\"'\u201d\u2019\u00bb)]"
"""Quotes and brackets after a sentence."""
QUOTES = "\"'\u201c\u201d\u2018\u2019\u00ab\u00bb"
APOSTROPHES = "'\u2019"
DASH = "\u2013"


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(words.split())


CAPTION = re.compile(
    r"\s*\[?(?:figure|fig|table|chart|plate|map|photo|photograph|image|illustration|diagram|box)\.?"
    r"(?:\s+[\dA-Z][\d.A-Za-z]{0,6})?\s{0,3}[:.|\u2013\u2014](?=\s)"
    r"|\s*(?:figure|fig\.?|table|plate)\s+\d[\d.]{0,6}\s+(?=(?-i:[A-Z]))"
    r"|\s*(?:photo|photograph|image|picture|map|source)s?(?:\s+(?:by|credit|courtesy of))?\s{0,3}:"
    r"|\s*(?:photo|photograph|image|picture)s?\s+(?:by|courtesy of)\s",
    re.IGNORECASE,
)
"""Beginning of a caption: `Figure 3:`, `Table 2.`, `Photo:`."""
OPENERS = word_set(
    "a an the this that these those it its he she they we i you his her their our in on at by for"
    " from with after before during since until when while where although because if as but and"
    " however moreover meanwhile there here some many most several both each every no not"
)
"""Words that, with a capital, begin a sentence more often than a name."""
FINITE = word_set(
    "is are was were am has have had does do did will would can could may might must shall should"
    " became becomes become remains remained remain began begins begin made makes make took takes"
    " take gave gives give held holds hold led leads lead kept keeps keep grew grows grow won wins"
    " lost loses saw sees see said says say came comes come went goes go left leaves stood stands"
    " stand lies lay built builds build wrote writes write spoke speaks speak found finds find felt"
    " feels feel brought brings bring thought thinks think meant means mean paid pays pay"
)
"""Verbs in forms that need no other verb."""
NOUN_MARKS = word_set("a an the its his her their our my your this that these those no")
"""Determiners: no verb follows them."""
STOP = word_set(
    "a an the this that these those it its he she they we you i his her their our your and or but"
    " nor so yet of in on at by for from with to into over under after before during since until"
    " about as is are was were be been being has have had do does did will would can could may"
    " might must shall should not no also than then there here which who whom whose what when where"
    " why how all any each few more most other some such only own same too very one two three"
    " many much several both every between within without through across against among"
)
"""Stop words."""


AFTER = r"(?![\w+#])"
"""Rejects a word followed by these: `C` does not match `C++` or `C#`."""


@lru_cache(maxsize=8192)
def word_pattern(word: str) -> "re.Pattern[str]":
    """Return the pattern of a keyword; one in capitals (`US`) is not another word (`us`)."""
    pattern = whole_words_only(re.escape(word))
    return re.compile(pattern, 0 if word.isupper() else re.IGNORECASE)


def whole_words_only(escaped: str) -> str:
    """Keep a pattern to whole words; no letter, digit or underscore may touch it."""
    return rf"(?<!\w)(?:{escaped}){AFTER}"


def contains_word(text: str, word: str) -> bool:
    """Tell whether the text contains the word."""
    return word_pattern(word).search(text) is not None


def tokens(text: str) -> list[str]:
    """Return the words of a text, in lower case, apostrophes and hyphens inside them kept."""
    return [match.group().lower() for match in re.finditer(rf"\w+(?:[{APOSTROPHES}-]\w+)*", text)]
