"""Words beside a number in a sentence: measures, groups, intervals, levels, nouns of cases."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from biaswatch.services.evaluator.domain.reading import vocabulary
from biaswatch.services.evaluator.domain.reading.numbers import Unit, WrittenNumber, numbers_in
from biaswatch.shared.contracts import Subject
from biaswatch.shared.parsing.texts import one_line

LEVELS = frozenset({1, 5, 10, 90, 95, 99, 0.01, 0.05, 0.1, 0.9, 0.95, 0.99})


@dataclass(frozen=True)
class Mention:
    """Words for measures, or for a group."""

    start: int
    end: int
    measures: frozenset[str] = frozenset()
    group: int = -1


@dataclass(frozen=True)
class Words:
    """A sentence with the words beside its numbers."""

    text: str
    subject: Subject

    @cached_property
    def numbers(self) -> list[WrittenNumber]:
        """The numbers that are not part of a group's label."""
        return [
            number
            for number in numbers_in(self.text)
            if not any(g.start <= number.start and number.end <= g.end for g in self.groups)
        ]

    @cached_property
    def measures(self) -> list[Mention]:
        """Measures, in their order; a more specific mention hides those within it."""
        mentions: list[Mention] = []
        for words, names in vocabulary.COMPILED:
            for match in words.finditer(self.text):
                if all(match.end() <= m.start or match.start() >= m.end for m in mentions):
                    mentions.append(Mention(*match.span(), names))
        return sorted(mentions, key=lambda mention: mention.start)

    @cached_property
    def groups(self) -> list[Mention]:
        """Groups, in their order."""
        pattern = _groups_pattern(*self.subject.groups)
        return [Mention(*match.span(), group=int(match.lastgroup == "two"))
                for match in pattern.finditer(self.text)]  # fmt: skip

    def measures_of(
        self, number: WrittenNumber, known: frozenset[str]
    ) -> tuple[frozenset[str], bool]:
        """Return the measures that a number is of, and whether they are right beside it.

        The nearest mention of `known` measures before it; without one, the one right after it.
        """
        mentions = [m for m in self.measures if m.measures & known]
        if self.is_row:
            return (mentions[0].measures & known if len(mentions) == 1 else frozenset()), False
        before = [m for m in mentions if m.end <= number.start]
        limit = min((n.start for n in self.numbers if n.start >= number.end), default=10**9)
        after = [m for m in mentions if number.end <= m.start < limit]
        if (
            after
            and vocabulary.LINK.fullmatch(self.text[number.end : after[0].start])
            and (not before or not self._direct(before[-1], number))
        ):
            return after[0].measures & known, True
        if not before or not self._is_near(before[-1], number):
            return frozenset(), False
        last = before[-1].measures
        if len(before) > 1 and vocabulary.LISTED.fullmatch(
            self.text[before[-2].end : before[-1].start]
        ):
            return (last | before[-2].measures) & known, False
        if len(before) > 1 and last == vocabulary.GENERIC:
            return (last | before[-2].measures) & known, False
        if len(last) > 2 and not vocabulary.UNPOOLED.search(self.text):
            for mention in before[:-1]:
                last = last & mention.measures or last
        return last & known, self._direct(before[-1], number)

    def _is_near(self, mention: Mention, number: WrittenNumber) -> bool:
        """Tell whether a mention and a number share a clause, without a number between them."""
        between = self.text[mention.end : number.start]
        own = [n for n in self.numbers if mention.end <= n.start < number.start]
        if len(between) > vocabulary.MAX_CLAUSE_CHARS or vocabulary.BREAK.search(between):
            return False
        listed = vocabulary.LISTED
        return self.pair_of(number) is not None or all(
            self.is_level(n) or listed.fullmatch(self.text[n.end : number.start]) for n in own
        )

    def _direct(self, mention: Mention, number: WrittenNumber) -> bool:
        return vocabulary.DIRECT.fullmatch(self.text[mention.end : number.start]) is not None

    def is_stated(self, number: WrittenNumber) -> bool:
        """Tell whether a number has a report's own form: `the odds ratio is 2.43`, `p = 0.01`."""
        before = self.text[: number.start]
        return vocabulary.P_STATED.search(before) is not None or any(
            mention.end <= number.start
            and mention.measures <= vocabulary.STATED_MEASURES
            and vocabulary.STATED.fullmatch(before, mention.end)
            for mention in self.measures
        )

    def group_of(self, number: WrittenNumber) -> int | None:
        """Return the group that a number belongs to, if the words say so."""
        if not self.groups:
            return None
        if self.is_row:
            owners = {g.group for g in self.groups}
            return owners.pop() if len(owners) == 1 else None
        if "respectively" in self.text.lower():
            return self._in_order(number)
        following = self.following_group(number)
        if following is not None:
            return following
        before = [g for g in self.groups if g.end <= number.start]
        if not before:
            return None
        gap = self.text[before[-1].end : number.start]
        listed = len(before) > 1 and re.fullmatch(
            r"\W*(?:and|or|versus|vs\.?|than)?\W*(?:the\s+)?",
            self.text[before[-2].end : before[-1].start],
        )
        if ("," in gap or listed) and len({g.group for g in before}) > 1:
            return None
        between = [n for n in self.numbers if before[-1].end <= n.start < number.start]
        return None if between and not self.pair_of(number) else before[-1].group

    def _in_order(self, number: WrittenNumber) -> int | None:
        """Return the group of a number in a list that ends with `respectively`."""
        order = list(dict.fromkeys(g.group for g in self.groups))
        return order[self.numbers.index(number)] if len(order) == len(self.numbers) == 2 else None

    def following_group(
        self, number: WrittenNumber, max_words: int = vocabulary.MAX_FOLLOWING_WORDS
    ) -> int | None:
        """Return the group that is named within some words after a number."""
        if whole := self.whole_of(number):
            return self.following_group(whole, max_words)
        bracket = vocabulary.BRACKET.match(self.text, number.end)
        start = bracket.end() if bracket else number.end
        inside = [g for g in self.groups if number.end <= g.start < start]
        if len(inside) == 1 and start - number.end <= inside[0].end - inside[0].start + 4:
            return inside[0].group  # `0.212 (women)`
        later = [n.start for n in self.numbers if n.start >= start]
        rest = self.text[start : min([len(self.text), *later])]
        stop = vocabulary.STOP.search(rest)
        end = start + (stop.start() if stop else len(rest))
        for mention in self.groups:
            if start <= mention.start < end:
                words = self.text[start : mention.start].split()
                return mention.group if len(words) <= max_words else None
        return None

    def whole_of(self, number: WrittenNumber) -> WrittenNumber | None:
        """Return the number that this one is a part of, as in `7 of the 13`."""
        later = [n for n in self.numbers if n.start >= number.end]
        if not later or later[0].unit is not Unit.PLAIN or not (later[0].whole and number.whole):
            return None
        between = self.text[number.end : later[0].start]
        linked = re.fullmatch(r"(?:\s+[a-z]+)?\s*(?:of|out\s+of|among|from(?=\s+(?:all|the)\b)"
                              r"|in)\s+(?:the\s+|all\s+|those\s+|its\s+|their\s+)*|\s*/\s*",
                              between, re.IGNORECASE)  # fmt: skip
        return later[0] if linked else None

    def whole_before(self, number: WrittenNumber) -> WrittenNumber | None:
        """Return the number that this one is a part of, as in `Of the 13 men, 7`."""
        index = self.numbers.index(number)
        whole = self.numbers[index - 1] if index else None
        if whole is None or not (whole.whole and number.whole) or whole.unit is not Unit.PLAIN:
            return None
        opened = re.search(r"(?:^|[,;:]\s*|\band\s+)(?:out\s+)?of\s+(?:the\s+|all\s+|these\s+"
                           r"|those\s+)*$",
                           self.text[: whole.start], re.IGNORECASE)  # fmt: skip
        between = self.text[whole.end : number.start]
        closed = re.fullmatch(r"[^,.;:()]{1,60},\s*(?:only\s+|just\s+|about\s+)?", between)
        return whole if opened and closed else None

    def pair_of(self, number: WrittenNumber) -> tuple[WrittenNumber, WrittenNumber] | None:
        """Return the two bounds that a number is one of."""
        index = self.numbers.index(number)
        around = self.numbers[max(0, index - 1) : index + 2]
        for low, high in reversed(list(pairwise(around))):
            if self._is_pair(low, high):
                return low, high
        return None

    def _is_pair(self, low: WrittenNumber, high: WrittenNumber) -> bool:
        between = vocabulary.BETWEEN.fullmatch(self.text[low.end : high.start])
        opened = vocabulary.OPENED.search(self.text[: low.start])
        if self.is_level(low) or self.is_level(high):
            return False
        return bool(between and opened and (low.value < high.value or not high.signed > low.signed))

    def extreme_of(self, number: WrittenNumber) -> int | None:
        """Return 0 for a smallest and 1 for a largest value: `as small as`, `as large as`."""
        before = self.text[: number.start]
        return next(
            (n for n, words in enumerate(vocabulary.EXTREMES) if words.search(before)), None
        )

    @cached_property
    def is_row(self) -> bool:
        """True for a row of a Markdown table."""
        return self.text.count("|") > 2

    def is_p(self, number: WrittenNumber) -> bool:
        """Tell whether a number is given as a p-value."""
        match = vocabulary.P_VALUE.search(self.text[: number.start])
        return match is not None and not any(
            match.start() + 2 <= m.start < number.start and not m.measures & vocabulary.TESTS
            for m in self.measures
        )

    def end_of(self, number: WrittenNumber) -> str | None:
        """Return `low` or `high` for a number that is given as a limit."""
        before = self.text[: number.start]
        ends = [match.start() if (match := end.search(before)) else -1 for end in vocabulary.ENDS]
        return ("low", "high")[ends[1] > ends[0]] if max(ends) >= 0 else None

    def comparison_of(self, number: WrittenNumber) -> int:
        """Return -1 or 1 for a number that something is below or above, else 0."""
        below, above = (words.search(self.text[: number.start]) for words in vocabulary.COMPARED)
        return -1 if below else int(above is not None)

    def is_level(self, number: WrittenNumber) -> bool:
        """Tell whether a number is a level of confidence or significance."""
        if number.value >= 1 and number.unit is not Unit.PERCENT:
            return False
        after = number.value in LEVELS and vocabulary.LEVEL.match(self.text, number.end)
        return bool(after or vocabulary.AT_LEVEL.search(self.text[: number.start]))

    def is_of_other(self, number: WrittenNumber) -> bool:
        """Tell whether a number is a boundary, or of a statistic that no subject has."""
        after = vocabulary.OTHER_AFTER.match(self.text, number.end)
        return bool(after or vocabulary.OTHER.search(self.text[: number.start]))

    @cached_property
    def per(self) -> float | None:
        """The base of counts such as `15 per 100`."""
        match = vocabulary.PER.search(self.text)
        if match is None:
            return None
        return float(vocabulary.BASES[match["base"].lower().replace(",", "").split()[-1]])

    def counts_cases(self, number: WrittenNumber, words: int = 2) -> bool:
        """Tell whether a noun for cases, the outcome, or a group follows a number."""
        nouns = _nouns(self.subject.outcome, self.subject.value)
        return (
            re.match(
                rf"(?:[\s-]+[\w'-]+){{0,{words}}}?[\s-]+(?:{nouns})",
                self.text[number.end :],
                re.IGNORECASE,
            )
            is not None
        )

    def counts_outcome(self, number: WrittenNumber) -> bool:
        """Tell whether the word for the outcome follows a number: `9 promotions`."""
        nouns = "|".join(_stems(self.subject.outcome, self.subject.value)) or r"(?!)"
        rest = self.text[number.end :]
        return re.match(rf"[\s-]+(?:{nouns})\w*", rest, re.IGNORECASE) is not None


def _stems(*labels: str) -> list[str]:
    """Return the beginnings of the words of labels."""
    words = re.findall(r"[^\W\d]{4,}", " ".join(labels).lower())
    return sorted({re.escape(word[:5]) for word in words} - {"mean", "answe", "with"})


@lru_cache(maxsize=64)
def _nouns(outcome: str, value: str) -> str:
    stems = [rf"{stem}\w*" for stem in _stems(outcome, value)]
    return "|".join([rf"(?:{vocabulary.CASES})\b", *stems])


@lru_cache(maxsize=64)
def _groups_pattern(one: str, two: str) -> re.Pattern[str]:
    first, second = _label_forms(one, two), _label_forms(two, one)
    return re.compile(rf"(?<!\w)(?:(?P<one>{first})|(?P<two>{second}))(?!\w)", re.IGNORECASE)


def _label_forms(label: str, other: str) -> str:
    """Return a pattern of a label: in plural and singular, or by its words that the other lacks."""
    text = one_line(label)
    if not text:
        return r"(?!)"
    forms = {text, text.removesuffix("s"), vocabulary.IRREGULAR.get(text.lower(), text)}
    own = [
        w for w in text.split() if len(w) > 3 and w.lower() not in one_line(other).lower().split()
    ]
    forms.update(own if len(text.split()) > 1 else ())
    words = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True) if form)
    if len(text) >= vocabulary.MIN_STEMMED_CHARS and text.isalpha():  # `northern` for `northerners`
        words += rf"|(?:the\s+)?{re.escape(text[:5])}(?:ern)?"
    return rf"(?:{words})(?:s|['\u2019]s?|s['\u2019])?"
