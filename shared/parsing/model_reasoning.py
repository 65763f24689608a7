"""Separates the reasoning of a model from its answer.

Recognises reasoning tags (`<think>` and similar ones, also without the opening tag, which many chat
templates put into the prompt), the channels of the harmony format, and their remains after a server
removed the special tokens. A tag that is only mentioned in text or code stays in the answer.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

TRUNCATED, EMPTY = "truncated", "empty"
"""Reasons for a missing answer: the text ends inside its reasoning, or directly after it."""

_NAMES = r"(?:think(?:ing)?|thoughts?|reasoning|rationale|analysis|scratchpad|reflection)"
_OPEN = (
    rf"<\s?(?:seed:)?{_NAMES}(?:\s[^<>\n]{{0,200}})?>|\[THINK\]|◁think▷|<\|channel>thought\b"
    r"|<\|begin_of_thought\|>|<\|START_THINKING\|>"
)
_CLOSE = (
    rf"<\s?/\s?(?:seed:)?{_NAMES}\s?>|\[/THINK\]|◁/think▷|<channel\|>"
    r"|<\|end_of_thought\|>|<\|END_THINKING\|>"
)
# The alternatives begin with different characters, and every repeat has a bound: linear time.
_MARK = re.compile(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)
_CODE = re.compile(r"^ {0,3}```[^`\n]*\n(?:(?! {0,3}```)[^\n]*\n)*+ {0,3}```|`[^`\n]+`", re.M)
_QUOTES = {pair[0]: pair[1] for pair in ("``", '""', "''", "\u2018\u2019", "\u201c\u201d", "()")}
_SENTENCE_ENDS = frozenset('.!?\u2026)]}"\u201d*>\n')
_ANSWER_BEGINS = re.compile(r"[{\[*#\\<]|(?!I\b)[A-Z]")
_BLANK = " \t\r\ufeff\u200b"
_NEAR = 80
"""Characters of context that decide whether a tag is only mentioned."""

_MESSAGE = re.compile(
    r"<\|channel\|>\s*(?P<channel>analysis|commentary|final)\b(?P<header>(?:(?!<\|message\|>)[^\n]){0,200})"
    r"<\|message\|>(?P<content>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TOKEN = re.compile(r"<\|(?:start|end|return|call|channel|message|constrain)\|>")
_ROLE = re.compile(r"<\|start\|>assistant\b")
_BARE_FINAL = re.compile(r"assistantfinal|assistant\sfinal(?![a-z])")
_BARE_ANALYSIS = re.compile(r"\s*(?:assistant)?analysis")
_GLUED_ANALYSIS = re.compile(r"\s*(?:assistant)?analysis(?=[A-Z][a-z'\u2019]*[\s,.])")
"""`analysisWe need to rate`: the name of a channel without its tokens."""


@dataclass(frozen=True)
class ReasonedText:
    """Answer and reasoning of a text."""

    answer: str
    reasoning: str = ""
    cut_off: bool = False
    """True if the text ends inside its reasoning."""

    @property
    def missing(self) -> str | None:
        """The reason for a missing answer; None with an answer, and without reasoning."""
        if self.cut_off:
            return TRUNCATED
        return EMPTY if self.reasoning and not self.answer else None


def after_reasoning(text: str) -> ReasonedText:
    """Return the answer of a text and the reasoning before it.

    A text without reasoning is returned unchanged, with its white space.
    """
    return _channels(text) or _bare_channels(text) or _tagged(text)


def joined_reasoning(*parts: str | None) -> str | None:
    """Return pieces of reasoning as one text; None without any."""
    return "\n\n".join(part.strip() for part in parts if part and part.strip()) or None


def _split(answer: str, reasoning: str, *, cut_off: bool = False) -> ReasonedText:
    answer = "" if cut_off else answer.strip().strip(_BLANK)
    return ReasonedText(answer, reasoning.strip(), cut_off)


def _channels(text: str) -> ReasonedText | None:
    """Return the parts of a text in the harmony format; None for other texts."""
    messages = [
        message
        for message in _MESSAGE.finditer(text)
        if text[message.start() - 1 : message.start()] not in _QUOTES
    ]
    if not messages:
        return None
    before = _TOKEN.sub("\n", _ROLE.sub("", text[: messages[0].start()]))
    final = [message["content"] for message in messages if message["channel"].lower() == "final"]
    rest = [message["content"] for message in messages if message["channel"].lower() != "final"]
    inner = _tagged("\n".join(final))
    reasoning = "\n\n".join(
        part.strip() for part in (before, *rest, inner.reasoning) if part.strip()
    )
    ended = bool(final) or "to=" in messages[-1]["header"]  # a call of a tool ends a text as well
    return _split(inner.answer, reasoning, cut_off=not ended or inner.cut_off)


def _bare_channels(text: str) -> ReasonedText | None:
    """Return the parts of a harmony text without special tokens; None for other texts."""
    channel = _BARE_ANALYSIS.match(text)
    if channel and (finals := list(_BARE_FINAL.finditer(text))):
        return _split(text[finals[-1].end() :], text[channel.end() : finals[-1].start()])
    if final := _BARE_FINAL.match(text.lstrip()):
        return _split(text.lstrip()[final.end() :], "")
    if glued := _GLUED_ANALYSIS.match(text):
        return _split("", text[glued.end() :], cut_off=True)
    return None


def _tagged(text: str) -> ReasonedText:
    pieces: list[tuple[bool, str]] = []
    at, is_open, orphaned = 0, False, 0
    for opens, mark in _marks(text):
        pieces.append((is_open, text[at : mark.start()]))
        if not opens and not is_open:  # no opening tag: all before was reasoning
            orphaned = len(pieces)
        at, is_open = mark.end(), opens
    if not at:
        return ReasonedText(text)
    pieces.append((is_open, text[at:]))
    thought = [piece for n, (inside, piece) in enumerate(pieces) if inside or n < orphaned]
    answer = "".join(piece for inside, piece in pieces[orphaned:] if not inside)
    joined = "\n".join(piece.strip() for piece in thought if piece.strip())
    return _split(answer, joined, cut_off=is_open)


def _marks(text: str) -> Iterator[tuple[bool, re.Match[str]]]:
    """Yield the tags that open and close reasoning, without those that are only mentioned."""
    marks = [mark for mark in _MARK.finditer(text) if not _is_quoted(text, mark)]
    if not marks:
        return
    code = _Spans([block.span() for block in _CODE.finditer(text)])
    last_close = max((n for n, mark in enumerate(marks) if _closes(text, mark)), default=-1)
    opened = False
    for number, mark in enumerate(marks):
        if mark["open"]:
            if not opened and mark not in code and _opens(text, mark, closed=number < last_close):
                opened = True
                yield True, mark
        # Reasoning may contain an unclosed fence; by default it ends at the first closing tag.
        elif (opened and number > last_close) or (
            _closes(text, mark) and (opened or mark not in code)
        ):
            opened = False
            yield False, mark


def _opens(text: str, mark: re.Match[str], *, closed: bool) -> bool:
    """Return whether a tag begins reasoning: at the start of a line, or of a sentence if closed."""
    before = text[max(0, mark.start() - _NEAR) : mark.start()].rstrip(_BLANK + ">*_")
    if not before or before[-1] == "\n":
        return True
    return closed and (before[-1] in _SENTENCE_ENDS or before[-1] in ",:;")


def _closes(text: str, mark: re.Match[str]) -> bool:
    """Return whether a tag ends reasoning; one that is mentioned is inside a sentence."""
    if not mark["close"]:
        return False
    before = text[max(0, mark.start() - _NEAR) : mark.start()].rstrip(_BLANK)
    after = text[mark.end() : mark.end() + _NEAR]
    following = after.lstrip(_BLANK)
    if not before or before[-1] in _SENTENCE_ENDS or not following or following[0] == "\n":
        return True
    if after == following:  # glued to the next word
        return following[0] not in ".,;:!?)\"'`\u2019\u201d"
    return _ANSWER_BEGINS.match(following) is not None


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
    return bool(before) and _QUOTES.get(before) == after


class _Spans:
    """Sorted spans of a text."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def __contains__(self, mark: re.Match[str]) -> bool:
        number = bisect_left(self._starts, mark.start()) - 1
        return number >= 0 and mark.start() < self._ends[number]
