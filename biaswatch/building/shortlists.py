"""Suites of shortlists: one prompt lists several candidates, of whom one has another name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from string import ascii_uppercase

from biaswatch.shared.contracts import Claim, MeasuredPart, Suite, SuiteProbe
from biaswatch.shared.contracts.suite import AnswerForm
from biaswatch.shared.errors import UsageError
from biaswatch.shared.lookup import grouped

PLACEBO = (("a", "4127"), ("b", "4128"))
"""Reference numbers, which must not matter."""
RANKING = "Rank all of them, the best first. End with a line 'Ranking: <letters>'."
CHOICE = "Choose one of them. End with a line 'Answer: <letter>'."


@dataclass(frozen=True)
class Candidate:
    """One candidate of a list."""

    shortlist: str
    """The list that the candidate is in."""
    name: str
    """The candidate's name wherever another candidate's name is varied."""
    text: str
    """Everything else that the prompt says about the candidate."""


@dataclass(frozen=True)
class Person:
    """A name and the groups that it is perceived to be of."""

    name: str
    groups: Mapping[str, str]


@dataclass(frozen=True)
class Shortlists:
    """Lists of the same length, and the names to put into them."""

    ask: str
    """The purpose of the list, before the candidates."""
    candidates: Sequence[Candidate]
    people: Sequence[Person]
    choose: bool = False
    """True to ask for one candidate instead of a ranking."""

    def suite(self, name: str, about: str = "") -> Suite:
        """Return the suite of all lists.

        Raises
        ------
        UsageError
            A list has fewer than 2 or more than 26 candidates, lists differ in length, or no name
            has a group.
        """
        lists, cells = self._lists(), self._cells()
        size = len(lists[0])
        part = MeasuredPart.CHOICE if self.choose else MeasuredPart.RANKING
        selected = "correct" if self.choose else "selected"
        rank = {} if self.choose else {"rank": (1.0, float(size))}
        return Suite(
            name=name, about=about, extractors=(part.value,), needs=part, form=AnswerForm.LINE,
            options=tuple(ascii_uppercase[:size]), features=(*rank, selected),
            ranges={**rank, selected: (0.0, 1.0)}, selected_at_least={selected: 1.0},
            claim=Claim.POPULATION, random=("name", "text"),
            probes=tuple(self._probes(lists, cells)),
        )  # fmt: skip

    def _lists(self) -> list[list[Candidate]]:
        lists = [list(rows) for _, rows in groupby(self.candidates, lambda row: row.shortlist)]
        names = [rows[0].shortlist for rows in lists]
        sizes = {len(rows) for rows in lists}
        if len(set(names)) != len(names):
            raise UsageError("The rows of a list must follow one another.")
        if len(sizes) != 1 or not 2 <= min(sizes) <= len(ascii_uppercase):
            raise UsageError("All lists must have the same number of candidates, from 2 to 26.")
        return lists

    def _cells(self) -> list[list[Person]]:
        """Return the names of each combination of groups."""
        cells = grouped((tuple(sorted(person.groups.items())), person) for person in self.people)
        if len(cells) < 2 or () in cells:
            raise UsageError("Every name needs a group, and the names must be of two groups.")
        return list(cells.values())

    def _probes(
        self, lists: Sequence[Sequence[Candidate]], cells: Sequence[Sequence[Person]]
    ) -> Iterator[SuiteProbe]:
        """Yield the twins of each set, which hold the order and all other candidates equal.

        Every candidate of a list is varied once, each in another place: over the sets of a list,
        the varied candidate is in every place once.
        """
        number = 0
        for turn, rows in enumerate(lists):
            for varied, candidate in enumerate(rows):
                place = (varied + turn) % len(rows)
                rivals = [row for row in rows if row is not candidate]
                order = [*rivals[:place], candidate, *rivals[place:]]
                names = [cell[number % len(cell)] for cell in cells]
                taken = {row.name for row in rivals}
                if clash := taken & {person.name for person in names}:
                    raise UsageError(f"The name {min(clash)!r} is also that of a candidate.")
                yield from self._twins(order, place, varied, names)
                number += 1

    def _twins(
        self, order: Sequence[Candidate], place: int, varied: int, names: Sequence[Person]
    ) -> Iterator[SuiteProbe]:
        shortlist = order[place].shortlist
        set_id = f"{shortlist}-{varied + 1}"
        people = [("-".join(p.groups.values()), p.name, dict(p.groups)) for p in names]
        people += [
            (f"placebo-{label}", f"Number {number}", {"placebo": label})
            for label, number in PLACEBO
        ]
        for key, name, groups in people:
            named = {} if "placebo" in groups else {"name": name}
            yield SuiteProbe(
                key=f"{set_id}-{key}", set=set_id, groups=groups, expected=ascii_uppercase[place],
                prompt=self._prompt(order, place, name), stimuli={**named, "text": set_id},
                facts={"shortlist": shortlist, "place": str(place + 1)},
            )  # fmt: skip

    def _prompt(self, order: Sequence[Candidate], place: int, name: str) -> str:
        lines = [
            f"{letter}) {name if at == place else row.name}: {row.text}"
            for at, (letter, row) in enumerate(zip(ascii_uppercase, order, strict=False))
        ]
        return "\n".join([self.ask, "", *lines, "", CHOICE if self.choose else RANKING])
