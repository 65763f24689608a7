"""Splits texts into sentences by rule and finds those with a keyword."""

import re
import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from biaswatch.building.build_data import Documents, SentenceMatch
from biaswatch.building.words import (
    CAPTION,
    CLOSING,
    DASH,
    FINITE,
    NOUN_MARKS,
    OPENERS,
    OPENING,
    STOP,
    contains_word,
)

BULLET = re.compile(r"\s*(?:[-*+\u2022\u00b7\u2023\u2013]|\(?\d{1,3}[.)])\s+\S")
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
        if BULLET.match(line) and (starts_paragraph or _is_entry(paragraph)):
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


def _is_entry(lines: Sequence[str]) -> bool:
    return BULLET.match(lines[0]) is not None and not ENDED.search(lines[-1].strip())


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


# A run of like characters is entered at its beginning alone and never given back: text from a page
# made to annoy would otherwise take time that grows with the square of its length.
CITATION = re.compile(
    rf"(?<!\s)\s*+\[(?:\^[^\]\s]{{1,60}}|\d{{1,4}}(?:\s*[,{DASH}-]\s*\d{{1,4}})*|[a-z]{{1,2}}"
    r"|(?:note|nb|n)\s*\d+"
    r"|(?:citation|clarification|page|better source)[^\]]{0,30}needed[^\]]{0,12}"
    r"|who\?|when\?|which\?|by whom\?|according to whom\?|update[^\]]{0,12})\]",
    re.IGNORECASE,
)
WHOLE = re.compile(rf"[.!?…][{re.escape(CLOSING)}]*$")
HEADING = re.compile(r"=.*=", re.DOTALL)
SPACE = re.compile(r"[^\S\n]+")
WINDOW_CHARS = 1_000
"""Characters segmented at once: the time of pysbd grows with their square."""
MARKUP = re.compile(
    r"[*`|\\^_]|~~|==|\$\$|::|</?[A-Za-z!]|\]\(|\[\[|\[\^|(?:^|\s)[#>]{1,6}\s|&#?\w{1,8};"
    r"|https?://|www\.|(?:^|\s)!"
)
"""Marks of Markdown, HTML, wikis and TeX that a reader of the source left in the text."""


def cleaned(text: str) -> str:
    """Strip citation marks and headings, and give every character its one composed form."""
    composed = unicodedata.normalize("NFC", text).replace("\r\n", "\n")
    without = CITATION.sub("", composed)
    lines = [line for line in without.split("\n") if not HEADING.fullmatch(line.strip())]
    return SPACE.sub(" ", "\n".join(lines))


def sentences(text: str) -> list[str]:
    """Return the usable sentences of a text; a blank line always ends one."""
    return [part for part in parts_of(text) if problem_of(part) is None]


def problem_of(part: str) -> str | None:
    """Return why a part of a text is not a usable sentence, or None."""
    if BULLET.match(part):
        return "list entry"
    if CAPTION.match(part):
        return "caption"
    if not WHOLE.search(part):
        return "no mark at its end"
    return "contains markup or code" if MARKUP.search(part) else None


@lru_cache(maxsize=32)
def parts_of(text: str) -> tuple[str, ...]:
    """Return sentences, headings and list entries in their order."""
    return tuple(
        part
        for paragraph in paragraphs(cleaned(text))
        for part in _parts(" ".join(paragraph.split()))
    )


def _parts(paragraph: str) -> Iterator[str]:
    if BULLET.match(paragraph):
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
    return list(_segmenter().segment(text))


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
