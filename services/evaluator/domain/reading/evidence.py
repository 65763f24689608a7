"""Evidence in a sentence that a number states a fact: words that name it, and its group."""

import re
from dataclasses import dataclass

from biaswatch.services.evaluator.domain.reading import cues
from biaswatch.services.evaluator.domain.reading.cues import Mention
from biaswatch.services.evaluator.domain.reading.facts import TESTS, Fact, facts_of
from biaswatch.services.evaluator.domain.reading.numbers import Number, Unit, numbers_in
from biaswatch.shared.contracts import Subject

MAX_FOLLOWING_WORDS = 6
_LEVELS = (0.1, 1, 5, 10, 80, 90, 95, 99, 99.9)
_PART_OF = re.compile(
    r"(?:\s+\w+){0,2}?\s*(?:of|out\s+of|among|from|in|/)\s*(?:the\s+|all\s+|those\s+|its\s+)*", re.I
)
_BRACKETS = re.compile(r"\s*\)?(?:\s*\([^()]*\))?")


@dataclass(frozen=True)
class Names:
    """The statistics that the words beside a number name."""

    statistics: frozenset[str] = frozenset()
    specific: bool = False
    """True where they are right beside it, and words of nothing else."""
    plain: bool = False
    """True in a form such as `odds ratio of 2.43`."""


class SentenceEvidence:
    """A sentence with its numbers, and the words that name statistics and groups."""

    def __init__(self, text: str, subject: Subject) -> None:
        self.text, self.subject = text, subject
        self.groups = cues.groups_in(text, subject.groups)
        self.statistics = cues.mentions_in(text, cues.STATISTICS)
        self.levels = cues.mentions_in(text, cues.LEVELS)
        self.outcome = cues.outcome_pattern((subject.outcome, subject.value))
        self.is_row = text.count("|") > 2
        self.names_second_first = bool(self.groups) and self.groups[0].group == 1
        labels = [(group.start, group.end) for group in self.groups]
        if re.search(r"[^\W\d]", value := subject.value.removesuffix("s")):
            words = re.compile(rf"\b{re.escape(value)}", re.IGNORECASE)
            labels += [match.span() for match in words.finditer(text)]
        self.numbers = [
            number
            for number in numbers_in(text)
            if not any(start < number.end and number.start < end for start, end in labels)
        ]

    def names(self, number: Number) -> Names:
        """Return the statistics that the words beside a number name."""
        mentions = [m for m in self.statistics if "p" not in m.names]
        mention, direct = self._nearest(mentions, number)
        if mention and mention.names <= cues.EVERYDAY:
            start = number.start - len(self.lead(number))
            own = [m for m in mentions if start <= m.start and m.end <= number.start]
            specific = [m for m in own if not m.names <= cues.EVERYDAY]
            mention, direct = (specific[-1], False) if specific else (mention, direct)
        level = self._level(number)
        names = set(mention.names) if mention else set()
        for name in level.names if level else ():
            names = {cues.OF_LEVEL.get((statistic, name), statistic) for statistic in names}
            if mention is None:
                names |= {cues.OF_LEVEL.get(("odds_ratio", name), "")} - {""}
        plain = mention and cues.PLAIN.fullmatch(self.text, mention.end, number.start)
        named_alone = direct and not names <= cues.EVERYDAY
        return Names(frozenset(names), named_alone, bool(plain))

    def _nearest(self, mentions: list[Mention], number: Number) -> tuple[Mention | None, bool]:
        """Return the mention that a number belongs to, and whether it is right beside it."""
        before = [m for m in mentions if m.end <= number.start]
        after = [m for m in mentions if m.start >= number.end]
        if before and cues.DIRECT.fullmatch(self.text, before[-1].end, number.start):
            return before[-1], True
        if after and cues.LINKED.fullmatch(self.text, number.end, after[0].start):
            return after[0], True
        return (before[-1] if before else after[0] if after else None), False

    def _level(self, number: Number) -> Mention | None:
        level, direct = self._nearest(self.levels, number)
        return level if level and (direct or level.end <= number.start) else None

    def is_p(self, number: Number) -> bool:
        """Tell whether a number is given as a p-value."""
        before = [m for m in self.statistics if m.end <= number.start]
        own = [m for m in before if not m.names <= TESTS]
        if not own or number.unit is not Unit.PLAIN:
            return False
        start, end = sorted((own[-1].start, number.start))
        separated = any(start <= n.start < end for n in self.numbers if n is not number)
        return "p" in own[-1].names and not separated

    def tests(self, number: Number) -> frozenset[str]:
        """Return the tests that the words beside a p-value name; all if they name none."""
        mention, _ = self._nearest([m for m in self.statistics if m.names <= TESTS], number)
        return mention.names if mention else TESTS

    def is_level(self, number: Number) -> bool:
        """Tell whether a number is a level of confidence or significance."""
        percent = number.unit is Unit.PERCENT or number.value >= 1
        size = number.value * (1 if percent else 100)
        after = cues.LEVEL_AFTER.match(self.text, number.end)
        named = after or cues.LEVEL_BEFORE.search(self.text[: number.start])
        return bool(named) and any(abs(size - level) < 1e-6 for level in _LEVELS)

    def owner(self, number: Number) -> int | None:
        """Return the group that a number belongs to, if the words say so."""
        following = self.following_group(number)
        before = [mention for mention in self.groups if mention.end <= number.start]
        if following is not None or not before:
            return following
        later = [n for n in self.numbers if n.start >= before[-1].end]
        paired = len(later) == 2 and len({mention.group for mention in before[-2:]}) == 2
        if paired and cues.AGAINST.fullmatch(self.text, later[0].end, later[1].start):
            return before[later.index(number) - 2].group
        return before[-1].group

    def following_group(self, number: Number) -> int | None:
        """Return the group that is named within some words after a number."""
        whole = self.whole_of(number)
        start = whole.end if whole else number.end
        skipped = _BRACKETS.match(self.text, start)
        inside = [m for m in self.groups if skipped and start <= m.start < skipped.end()]
        if len(inside) == 1:
            return inside[0].group
        start = skipped.end() if skipped else start
        near = [m for m in self.groups if start <= m.start < self._clause_end(start)]
        close = near and len(self.text[start : near[0].start].split()) <= MAX_FOLLOWING_WORDS
        return near[0].group if close else None

    def whole_of(self, number: Number) -> Number | None:
        """Return the number that this one is a part of, as in `7 of 12`."""
        index = self.numbers.index(number) + 1
        whole = self.numbers[index] if index < len(self.numbers) else None
        if whole is None or not whole.whole or whole.unit is not Unit.PLAIN:
            return None
        return whole if _PART_OF.fullmatch(self.text, number.end, whole.start) else None

    def lead(self, number: Number) -> str:
        """Return the words between the number before and this one."""
        index = self.numbers.index(number)
        return self.text[self.numbers[index - 1].end if index else 0 : number.start]

    def segment(self, number: Number) -> str:
        """Return the words from a number to the end of its clause."""
        return self.text[number.end : self._clause_end(number.end)]

    def _clause_end(self, start: int) -> int:
        end = min([n.start for n in self.numbers if n.start >= start], default=len(self.text))
        broken = cues.CLAUSE.search(self.text, start, end)
        return broken.start() if broken else end

    def is_part(self, number: Number, part: str) -> bool:
        """Tell whether the words fit a bound, or an estimate."""
        if self.is_row:
            return True
        low, high = (words.search(self.lead(number)) for words in (cues.LOW, cues.HIGH))
        return bool({"low": low, "high": high}.get(part, not low and not high))

    def is_of(self, number: Number, fact: Fact) -> bool:
        """Tell whether a number belongs to the group of a fact, or to both."""
        owner = self.owner(number)
        if fact.group is None:
            return owner is None and not cues.PER_GROUP.search(self.segment(number))
        twin = Fact(fact.value, fact.statistic, fact.part, 1 - fact.group)
        both = owner is None and cues.PER_GROUP.search(self.text) and twin in facts_of(self.subject)
        return owner == fact.group or bool(both)

    def masked(self, words: str) -> str:
        """Return words without those of the outcome, which may be a refusal."""
        return self.outcome.sub(" ", words)

    def has_noun(self, number: Number) -> bool:
        """Tell whether a group, a case, an answer or the outcome follows a whole number."""
        words = rf"{cues.CASES}|{cues.ANSWERS.pattern}|{self.outcome.pattern}|missing"
        noun = re.compile(rf"(?:[\s-]+[\w'-]+){{0,2}}?[\s-]+(?:{words})", re.IGNORECASE)
        return bool(noun.match(self.text, number.end)) or self.following_group(number) is not None
