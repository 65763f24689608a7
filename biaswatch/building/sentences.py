"""Splits texts into sentences by rule and finds those with a keyword."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from biaswatch.building.build_data import Documents, SentenceMatch
from biaswatch.building.cleaning import cleaned
from biaswatch.building.words import (
    CAPTION,
    CLOSING,
    FINITE,
    NOUN_MARKS,
    OPENERS,
    OPENING,
    STOP,
    contains_word,
)

SYMBOL = rf"[^\w\s{re.escape(OPENING)}{{}}|<!$\u20ac\u00a3\u00a5][^\w\s{re.escape(OPENING)}]{{0,6}}"
BULLET = re.compile(
    rf"\s*(?:(?:{SYMBOL}|\d\ufe0f?\u20e3|\(?\d{{1,3}}[.)]|\(?(?:[a-z]|[ivx]{{1,5}})[.)]|#\d{{1,3}}"
    r"|\[[ \w^]{1,3}\])\s+\S|(?:o|\(?\d{1,3}(?:\.\d{1,3}){1,4}[.)]?)\s+(?=[A-Z]))"
)
"""Symbol, number or letter before an entry of a list."""
ENUMERATED = re.compile(
    r"\s*(?:[A-F]\.\s+(?![A-Z]\.)|[IVX]{2,5}\.\s|\d{1,2}\s+(?=[A-Z])|[A-Z]:\s"
    r"|(?:Step|Question|Answer|Tip|Example)(?:\s+\d{1,2})?:\s)\s*\S"
)
"""What numbers an entry at the beginning of a paragraph, and may be part of a sentence later."""
MARKDOWN = re.compile(r"\s*#{1,6}\s+\S")
UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|~{3,})\s*")
EDIT = re.compile(r"\s*\[\s*edit(?:\s+source)?\s*\]\s*$", re.IGNORECASE)
"""Edit links behind headings of encyclopaedia pages."""
ENDED = re.compile(rf"[.!?\u2026:;,][{re.escape(CLOSING)}]*$")
MOST_HEADING_WORDS = 10
SHORT = 0.6
"""Shorter than this share of the next line, a line was not wrapped."""


def paragraphs(text: str) -> Iterator[str]:
    """Return the paragraphs in their order; lines that were only wrapped are one paragraph."""
    for block in re.split(r"\n\s*\n", text):
        yield from _of_block([line for line in block.split("\n") if line.strip()])


def _of_block(lines: Sequence[str]) -> Iterator[str]:
    paragraph: list[str] = []
    for n, line in enumerate(lines):
        following = lines[n + 1] if n + 1 < len(lines) else ""
        if UNDERLINE.fullmatch(line):
            continue
        is_heading = bool(
            EDIT.search(line) or MARKDOWN.match(line) or UNDERLINE.fullmatch(following)
        )
        starts_paragraph = not paragraph or ENDED.search(paragraph[-1].strip()) is not None
        if _begins_entry(line, paragraph, starts_paragraph):
            yield from _joined(paragraph)
            paragraph = [line]
        elif is_heading or (starts_paragraph and _is_heading(line.strip(), following.strip())):
            yield from _joined(paragraph)
            yield EDIT.sub("", line)
            paragraph = []
        elif paragraph and _is_entry(paragraph) and _begins_anew(line.strip()):
            yield from _joined(paragraph)
            paragraph = [line]
        else:
            paragraph.append(line)
    yield from _joined(paragraph)


def _joined(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield "\n".join(lines)


def is_marked(text: str) -> bool:
    """Tell whether a text begins like an entry of a list."""
    return bool(BULLET.match(text) or ENUMERATED.match(text))


def _begins_entry(line: str, paragraph: Sequence[str], starts_paragraph: bool) -> bool:
    if not paragraph or is_marked(paragraph[0]):
        return is_marked(line)
    return starts_paragraph and BULLET.match(line) is not None


def _is_entry(lines: Sequence[str]) -> bool:
    return is_marked(lines[0]) and not ENDED.search(lines[-1].strip())


def _begins_anew(line: str) -> bool:
    first = line.lstrip(OPENING).split(maxsplit=1)[0]
    return first[:1].isupper()


def _is_heading(line: str, following: str) -> bool:
    """Tell whether a line that begins a paragraph is a title of what follows it.

    A wrapped line is about as long as its neighbours and may break anywhere. A title has no verb,
    does not end in a function word, and is followed by the start of a sentence.
    """
    words = line.split()
    if not following or ENDED.search(line) or len(words) > MOST_HEADING_WORDS:
        return False
    lower = [word.strip(OPENING + CLOSING).lower() for word in words]
    # The first word is not counted as a verb: "Pay and shortage" is a title.
    if lower[-1] in STOP or lower[-1] in NOUN_MARKS or FINITE & set(lower[1:]):
        return False
    if not _begins_anew(following):
        return False
    opener = following.lstrip(OPENING).split(maxsplit=1)[0].lower() in OPENERS
    return opener or len(line) < SHORT * len(following)


WHOLE = re.compile(rf"[.!?…][{re.escape(CLOSING)}]*$")
WINDOW_CHARS = 1_000
"""Characters segmented at once: the time of pysbd grows with their square."""
MARKUP = re.compile(
    r"[*`|\\^_~{}<>=\[\]]|\$\$|\$[A-Za-z]|::|(?:^|\s)#|&#?\w{1,8};|https?://|www\.|\S@\S|(?:^|\s)!"
)
"""Marks of Markdown, HTML, wikis and TeX that a reader of the source left in the text."""
PAIRS = [("(", ")"), ("\u201c", "\u201d"), ("\u00ab", "\u00bb")]
ABBREVIATION = re.compile(
    r"(?<![\w.])(?:c|ca|nos?|pp?|vols?|ch|chap|secs?|arts?|figs?|eqs?|approx|est|b|d|r|fl|op)\.\s*$",
    re.IGNORECASE,
)
"""Abbreviations before a number: `c. 1150`."""
TITLE = re.compile(r"\b(?:Fr|Br|Msgr|Mmes?|Mlle|Hon|Amb|Insp|Supt|Cmdr|Cdr|Pres|Bros|Vols?)\.\s*$")
"""Abbreviations before a name, which pysbd does not know."""


def sentences(text: str) -> list[str]:
    """Return the usable sentences of a text; a blank line always ends one."""
    return [part for part in parts_of(text) if problem_of(part) is None]


def problem_of(part: str) -> str | None:
    """Return why a part of a text is not a usable sentence, or None."""
    if is_marked(part):
        return "list entry"
    if CAPTION.match(part):
        return "caption"
    if not WHOLE.search(part):
        return "no mark at its end"
    if MARKUP.search(part):
        return "contains markup or code"
    if part.isupper() and " " in part:
        return "heading"
    if any(part.count(opening) != part.count(closing) for opening, closing in PAIRS):
        return "a quotation or bracket that is not closed"
    return "no capital at its beginning" if part.lstrip(OPENING)[:1].islower() else None


@lru_cache(maxsize=32)
def parts_of(text: str) -> tuple[str, ...]:
    """Return sentences, headings and list entries in their order."""
    return tuple(
        part
        for paragraph in paragraphs(cleaned(text))
        for part in _parts(" ".join(paragraph.split()))
    )


def _parts(paragraph: str) -> Iterator[str]:
    if is_marked(paragraph):
        yield paragraph  # an entry of several sentences is not prose either
        return
    rest = paragraph
    while len(rest) > WINDOW_CHARS:
        segments = _segments(rest[:WINDOW_CHARS])
        # The last segment of a window may go on after it.
        whole = segments[:-1] or [rest[:WINDOW_CHARS]]
        yield from map(str.strip, whole)
        rest = rest[len("".join(whole)) :]
    yield from filter(None, map(str.strip, _segments(rest)))


def _segments(text: str) -> list[str]:
    """Return the sentences that pysbd finds, without its cuts inside sentences."""
    segments: list[str] = []
    for segment in _segmenter().segment(text):
        if segments and _goes_on(segments[-1], segment):
            segments[-1] += segment
        else:
            segments.append(segment)
    return segments


def _goes_on(before: str, after: str) -> bool:
    first = after.lstrip(OPENING + " ")[:1]
    if first.isdigit():
        return ABBREVIATION.search(before) is not None
    return first.islower() or TITLE.search(before) is not None


@lru_cache(maxsize=1)
def _segmenter() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*invalid escape sequence")  # shown at its first import
        import pysbd

    return pysbd.Segmenter(language="en", clean=False)


MatchesByKeyword = Mapping[str, Sequence[SentenceMatch]]


def sentences_by_keyword(
    concept: str, keywords: Sequence[str], documents: Documents
) -> dict[str, list[SentenceMatch]]:
    """Return the matches of every keyword, possibly none.

    A sentence in several documents is matched once, in the first of them.
    """
    matches: dict[str, list[SentenceMatch]] = {keyword: [] for keyword in keywords}
    seen: set[str] = set()
    for document in documents:
        tag, licence = document.tag, document.licence
        for position, sentence in enumerate(sentences(document.text), start=1):
            for keyword in matches if sentence not in seen else ():
                if contains_word(sentence, keyword):
                    hit = SentenceMatch(concept, keyword, sentence, tag, position, licence)
                    matches[keyword].append(hit)
            seen.add(sentence)
    return matches


def distinct_matches(matches: MatchesByKeyword) -> list[SentenceMatch]:
    """Return each sentence once, under the first of its keywords, in the order of the sources."""
    distinct: dict[str, SentenceMatch] = {}
    for hits in matches.values():
        for hit in hits:
            known = distinct.setdefault(hit.sentence, hit)
            if known is not hit:
                distinct[hit.sentence] = replace(known, others=(*known.others, hit.keyword))
    tags = {tag: n for n, tag in enumerate(dict.fromkeys(h.source_tag for h in distinct.values()))}
    return sorted(distinct.values(), key=lambda hit: (tags[hit.source_tag], hit.position))
