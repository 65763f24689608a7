"""Tokens and stems of English words, as BLEU and ROUGE use them."""

import re

_TOKEN = re.compile(
    r"\.\.\.|--|can(?=not\b)|[^\W_]+?(?=n't\b)|n't\b|'(?:s|m|d|ll|re|ve)\b|\w+?(?='(?:s|m|d|ll|re|ve)\b)"
    r"|\w+(?:[-./']\w+|[.,:]\d+)*|[^\w\s]"
)
_NO_LETTER = re.compile(r"[^a-z0-9]+")
MIN_STEMMED_CHARACTERS = 4
_IRREGULAR = {
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
    **{word: word for word in ("news", "inning", "outing", "canning", "howe")},
    **{word: word for word in ("proceed", "exceed", "succeed")},
}
_STEP_2 = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance")),
    *(("izer", "ize"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e")),
    *(("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al")),
    *(("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al")),
    *(("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful")),
)
_STEP_3 = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic")),
    *(("ful", ""), ("ness", "")),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def tokens(text: str) -> list[str]:
    """Return words and punctuation in small letters, contractions in two parts.

    Like the Penn Treebank tokenizer of NLTK, except that every full stop before a space is a token
    of its own, also after an abbreviation.

    >>> tokens("It isn't 3.5, is it?")
    ['it', 'is', "n't", '3.5', ',', 'is', 'it', '?']
    """
    return _TOKEN.findall(text.lower())


def stemmed_words(text: str) -> list[str]:
    """Return the stems of the words of a-z and 0-9 that ROUGE compares.

    >>> stemmed_words("The ponies were running")
    ['the', 'poni', 'were', 'run']
    """
    words = _NO_LETTER.sub(" ", text.lower()).split()
    return [stem(word) if len(word) >= MIN_STEMMED_CHARACTERS else word for word in words]


def stem(word: str) -> str:
    """Return the stem of a word in small letters, by Porter's algorithm as NLTK extends it.

    References
    ----------
    Porter (1980), An algorithm for suffix stripping, Program 14(3).
    """
    if word in _IRREGULAR or len(word) <= 2:
        return _IRREGULAR.get(word, word)
    word = _without_past(_without_plural(word))
    if word.endswith("y") and len(word) > 2 and _kinds(word[:-1])[-1] == "c":
        word = f"{word[:-1]}i"
    word = _step_2(word)
    word = _replaced(word, _STEP_3)
    return _without_e(_step_4(word))


def _kinds(word: str) -> str:
    """Return c for each consonant and v for each vowel; y is a vowel after a consonant."""
    kinds = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if is_vowel else "c"
    return kinds


def _measure(word: str) -> int:
    return len(re.findall("v+c+", _kinds(word)))


def _ends_short(word: str) -> bool:
    """Return whether a word ends in consonant, vowel, consonant, or is vowel and consonant."""
    kinds = _kinds(word)
    return (kinds.endswith("cvc") and word[-1] not in "wxy") or kinds == "vc"


def _without_plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    ending = next((end for end in ("ed", "ing") if word.endswith(end)), None)
    if ending is None or "v" not in _kinds(short := word.removesuffix(ending)):
        return word
    if short.endswith(("at", "bl", "iz")):
        return f"{short}e"
    if short[-2:-1] == short[-1] and _kinds(short)[-1] == "c":
        return short if short[-1] in "lsz" else short[:-1]
    return f"{short}e" if _measure(short) == 1 and _ends_short(short) else short


def _replaced(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    """Apply the first rule whose ending the word has, if a syllable remains."""
    for ending, new in rules:
        if word.endswith(ending):
            short = word.removesuffix(ending)
            return short + new if _measure(short) else word
    return word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        return _step_2(f"{word[:-4]}al")
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _replaced(word, _STEP_2)


def _step_4(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            short = word.removesuffix(ending)
            allowed = ending != "ion" or short.endswith(("s", "t"))
            return short if allowed and _measure(short) > 1 else word
    return word


def _without_e(word: str) -> str:
    if word.endswith("e"):
        short = word[:-1]
        measure = _measure(short)
        if measure > 1 or (measure == 1 and not _ends_short(short)):
            word = short
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
