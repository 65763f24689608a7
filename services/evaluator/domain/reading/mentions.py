"""Mentions in a sentence: measures, groups and roles, and the one that belongs to a number."""

import re
from dataclasses import dataclass
from functools import cached_property

from biaswatch.services.evaluator.domain.reading.numbers import Unit, WrittenNumber, numbers_in
from biaswatch.shared.contracts import Subject
from biaswatch.shared.parsing.texts import one_line

_ODDS = r"odds\s+ratios?|(?-i:\bORs?\b)"
_OF_SHARES = (
    r"differences?\s+(?:in|between|of)\s+(?:the\s+)?(?:\w+\s+)?(?:proportions|shares|rates|risks)"
)
_WITHIN = r"mantel.{1,3}haenszel|\bwithin\b|stratified|stratum|\bstrata\b"
MEASURES: tuple[tuple[str, frozenset[str]], ...] = (
    (rf"cochran|\bCMH\b|{_WITHIN}", frozenset({"odds_ratio_within", "cmh"})),
    (rf"conditional(?:\s+\w+){{0,4}}?\s+(?:{_ODDS})|exact\s+interval|conditional\s+(?:maximum|estimate)",
     frozenset({"odds_ratio_conditional"})),
    (rf"adjusted\s+(?:{_ODDS})", frozenset({"odds_ratio_adjusted"})),
    (rf"(?:pooled|crude|overall|unadjusted)\s+(?:{_ODDS})", frozenset({"odds_ratio"})),
    (rf"(?:{_ODDS})", frozenset({"odds_ratio", "odds_ratio_conditional", "odds_ratio_within",
                                 "odds_ratio_adjusted"})),
    (r"relative\s+risks?|risk\s+ratios?|(?-i:\bRRs?\b)", frozenset({"relative_risk"})),
    (rf"risk\s+differences?|{_OF_SHARES}|(?-i:\bRD\b)", frozenset({"risk_difference"})),
    (r"impact\s+ratios?|balance\s+ratios?", frozenset({"impact_ratio"})),
    (r"chi.?squared?|[\u03c7X](?:2|\u00b2|\^2)", frozenset({"chi_square"})),
    (r"fisher(?:'s)?", frozenset({"fisher"})),
    (r"boschloo(?:'s)?", frozenset({"boschloo"})),
    (r"effect\s+size|hedges|cohen(?:'s)?\s+d\b", frozenset({"effect_size"})),
    (r"mean\s+differences?|differences?\s+(?:of|in|between)\s+(?:the\s+)?means?|\bgaps?\b",
     frozenset({"gap", "risk_difference"})),
    (r"(?:selection|success|admission|callback|promotion)\s+rates?", frozenset({"share"})),
    (r"\btolerance\b", frozenset({"tolerance"})),
)  # fmt: skip
"""Words for measures, the most specific first."""
TESTS = frozenset({"chi_square", "fisher", "boschloo", "cmh", "gap_test"})
_COMPILED = [(re.compile(words, re.IGNORECASE), names) for words, names in MEASURES]
_P_VALUE = re.compile(r"\bp(?:[-\s]?values?)?\b[^.;,()\d]{0,60}$", re.IGNORECASE)
_LIMIT = r"\s+(?:\w+\s+)?(?:limit|bound|end|endpoint)\b[^.;()\d]{0,60}$"
_LOW = re.compile(rf"\blower{_LIMIT}", re.IGNORECASE)
_HIGH = re.compile(rf"\bupper{_LIMIT}", re.IGNORECASE)
_BOUND = re.compile(r"\bas\s+(?:small|low|little|large|high|great|much)\s+as\s*$", re.IGNORECASE)
_OF_NUMBER = re.compile(r"\s*(?:of|out\s+of|in)\s+(?:the\s+|all\s+)?$", re.IGNORECASE)
_THRESHOLD = re.compile(
    r"(?:[<>\u2264\u2265]|\b(?:below|above|under|over|exceeds?|than|level(?:\s+of)?|threshold(?:\s+of)?))\s*$",
    re.IGNORECASE,
)
_ROUGHLY = r"(?:(?:about|around|roughly|nearly)\s+)?"
_BETWEEN = re.compile(
    rf"\s*%?\s*(?:[,;\u2013\u2014-]|to|and|through|up\s+to)\s*{_ROUGHLY}[-+\u2212]?\s*",
    re.IGNORECASE,
)
_DIRECT = re.compile(
    r"\s*(?:of|is|was|=|:|,|equals|equal\s+to|amounts\s+to|st(?:ands|ood)\s+at"
    r"|(?:is|was)\s+estimated\s+(?:at|as))?\s*",
    re.IGNORECASE,
)
_EXTREME = re.compile(
    r"\b(?:least|most|small\w*|large\w*|minimum|maximum|up\s+to|bounds?|limits?|ends?|low\w*|high\w*"
    r"|upper|intervals?|from|between)\b",
    re.IGNORECASE,
)
_UNPOOLED = re.compile(r"\b(?:from|pooled|crude|overall|unadjusted|raw)\b", re.IGNORECASE)
_STOP = re.compile(r"[,;:()]|\b(?:and|but|while|whereas|against|than|versus)\b", re.IGNORECASE)
_PAIR_BEFORE = re.compile(
    r"(?:[(\[]|\bfrom|\bbetween|\bC\.?I\.?:?|\bintervals?\b[^.;()\d]{0,45}|\blimits?\b[^.;()\d]{0,45}"
    r"|=|,|:|\bas\s+small\s+as)\s*(?:95\s*%\s*)?$",
    re.IGNORECASE,
)
_LINK = re.compile(r"[\s)%]*(?:(?:as|for|of|in|is|was)\s+)?(?:an?\s+|the\s+)?", re.IGNORECASE)
MAX_FOLLOWING_WORDS = 6


@dataclass(frozen=True)
class MeasureMention:
    """Words for one or several measures."""

    start: int
    end: int
    measures: frozenset[str]


@dataclass(frozen=True)
class GroupMention:
    """A word for a group."""

    start: int
    end: int
    group: int


@dataclass(frozen=True)
class SentenceMentions:
    """A sentence with everything that is mentioned in it."""

    text: str
    subject: Subject

    @cached_property
    def numbers(self) -> list[WrittenNumber]:
        """The numbers that are not part of a group's label."""
        labels = [match.span() for match in self._labels()]
        return [
            number
            for number in numbers_in(self.text)
            if not any(start <= number.start and number.end <= end for start, end in labels)
        ]

    @cached_property
    def measures(self) -> list[MeasureMention]:
        """Measures, in their order; a more specific mention hides those within it."""
        found: list[MeasureMention] = []
        for words, names in _COMPILED:
            for match in words.finditer(self.text):
                if all(match.end() <= m.start or match.start() >= m.end for m in found):
                    found.append(MeasureMention(*match.span(), names))
        return sorted(found, key=lambda mention: mention.start)

    @cached_property
    def groups(self) -> list[GroupMention]:
        """Groups, in their order."""
        return [
            GroupMention(*match.span(), int(match.lastgroup == "two")) for match in self._labels()
        ]

    def _labels(self) -> list[re.Match[str]]:
        one, two = (_label_pattern(label) for label in self.subject.groups)
        pattern = re.compile(rf"(?<!\w)(?:(?P<one>{one})|(?P<two>{two}))(?!\w)", re.IGNORECASE)
        return list(pattern.finditer(self.text))

    def measure_of(self, number: WrittenNumber) -> frozenset[str] | None:
        """Return the measures that a number may be of: the nearest mention before it.

        Without one, the one right after it.
        """
        before = [m for m in self.measures if m.end <= number.start]
        if before:
            return self._qualified(before)
        limit = min((n.start for n in self.numbers if n.start >= number.end), default=10**9)
        after = [m for m in self.measures if number.end <= m.start < limit]
        linked = after and _LINK.fullmatch(self.text[number.end : after[0].start])
        return after[0].measures if linked else None

    def _qualified(self, mentions: list[MeasureMention]) -> frozenset[str]:
        """Return the measures of the last mention; `stratified` before an odds ratio narrows it."""
        last = mentions[-1].measures
        if len(last) > 2 and not _UNPOOLED.search(self.text):
            for mention in mentions[:-1]:
                last = last & mention.measures or last
        return last

    def group_of(self, number: WrittenNumber) -> int | None:
        """Return the group that a number belongs to, if the words say so."""
        if "respectively" in self.text.lower() or not self.groups:
            return None
        following = self.following_group(number)
        if following is not None:
            return following
        before = [g for g in self.groups if g.end <= number.start]
        if not before:
            return None
        gap = self.text[before[-1].end : number.start]
        if "," in gap and len({g.group for g in before}) > 1:
            return None
        between = [n for n in self.numbers if before[-1].end <= n.start < number.start]
        return None if between and not self._in_pair(number) else before[-1].group

    def follows_estimate(self, number: WrittenNumber, earlier: WrittenNumber) -> bool:
        """Tell whether a pair of bounds stands in brackets right behind an estimate."""
        between = self.text[earlier.end : number.start]
        return re.fullmatch(r"[^.;\d]{0,12}[(\[,][^.;()]{0,40}", between) is not None

    def _in_pair(self, number: WrittenNumber) -> bool:
        return self._pair(number) is not None

    def counts_of(self, number: WrittenNumber) -> bool:
        """Tell whether a number stands in front of another it is a part of: `7 of 13`."""
        later = [n for n in self.numbers if n.start >= number.end]
        between = self.text[number.end : later[0].start] if later else ""
        return bool(later and _OF_NUMBER.fullmatch(between) and later[0].unit is Unit.PLAIN)

    def following_group(
        self, number: WrittenNumber, max_words: int = MAX_FOLLOWING_WORDS
    ) -> int | None:
        """Return the group that is named within some words after a number."""
        rest = self.text[number.end :]
        later = [n for n in self.numbers if n.start >= number.end]
        if later and _OF_NUMBER.fullmatch(self.text[number.end : later[0].start]):
            return self.following_group(later[0], max_words)
        end = min(len(rest), *(n.start - number.end for n in later[:1]), 10**9)
        if stop := _STOP.search(rest[:end]):
            end = stop.start()
        for mention in self.groups:
            if number.end <= mention.start < number.end + end:
                words = self.text[number.end : mention.start].split()
                return mention.group if len(words) <= max_words else None
        return None

    def role_of(self, number: WrittenNumber) -> str | None:
        """Return the role that the words beside a number give it, or None.

        Roles are p, threshold, p_threshold, bound, low, high, pair_low, pair_high and estimate.
        """
        before = self.text[: number.start]
        is_p = _P_VALUE.search(before) is not None
        if _THRESHOLD.search(before):
            return "p_threshold" if is_p else "threshold"
        if is_p:
            return "p"
        if pair := self._pair(number):
            return pair
        if _BOUND.search(before):
            return "bound"
        if _LOW.search(before):
            return "low"
        if _HIGH.search(before):
            return "high"
        return "estimate" if self._is_direct(number) else None

    def _is_direct(self, number: WrittenNumber) -> bool:
        """Tell whether a number stands right behind its measure: `odds ratio of 2.43`."""
        before = [m for m in self.measures if m.end <= number.start]
        if not before or _EXTREME.search(self.text[: number.start]):
            return False
        return _DIRECT.fullmatch(self.text[before[-1].end : number.start]) is not None

    def _pair(self, number: WrittenNumber) -> str | None:
        index = self.numbers.index(number)
        following = self.numbers[index + 1 : index + 2]
        preceding = self.numbers[index - 1 : index] if index else []
        if following and self._is_pair(number, following[0]):
            return "pair_low"
        return "pair_high" if preceding and self._is_pair(preceding[0], number) else None

    def _is_pair(self, low: WrittenNumber, high: WrittenNumber) -> bool:
        between = _BETWEEN.fullmatch(self.text[low.end : high.start])
        opened = _PAIR_BEFORE.search(self.text[: low.start])
        return bool(between and opened and low.value < high.value)


def _label_pattern(label: str) -> str:
    words = re.escape(one_line(label))
    return rf"{words}(?:'s|\u2019s|s)?" if words else r"(?!)"
