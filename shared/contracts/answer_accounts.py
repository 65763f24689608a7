"""What became of production answers: each that was sent in is in exactly one account."""

from collections.abc import Iterable

from pydantic import NonNegativeInt

from biaswatch.shared.contracts.record import Part


class MemberAccounts(Part):
    """What became of the members of a window that was read; every member is in one account."""

    evidence: NonNegativeInt = 0
    """Counted by at least one comparison."""
    described: NonNegativeInt = 0
    """Measured and described, and counted by no comparison: its user is not named, was counted
    before, is in two groups at once, lacks a fact that is compared within, or found no neighbour;
    or it came too long after the user's first answer, or in another stratum."""
    unmeasured: NonNegativeInt = 0
    """No extractor had measured it when the window closed."""
    without_text: NonNegativeInt = 0
    """There was no answer, for a reason that the sender gave; comparisons of missing answers
    count it."""
    without_group: NonNegativeInt = 0
    """It has none of the groups that are compared."""


class AnswerAccounts(MemberAccounts):
    """What became of every answer that was sent in; the accounts add up to `sent`."""

    waiting: NonNegativeInt = 0
    """Taken in time for a window that is not read yet."""
    late: NonNegativeInt = 0
    """Taken in after its window was read or passed over: kept, and in no evidence."""
    duplicate: NonNegativeInt = 0
    """Sent again with the same id in the same window."""
    refused: NonNegativeInt = 0
    """Not taken in: something is wrong with it or its batch, or the monitor pauses or has ended."""

    @property
    def sent(self) -> int:
        """Return how many answers were sent in."""
        return sum(getattr(self, name) for name in type(self).model_fields)

    @property
    def in_words(self) -> str:
        """Return the accounts that are not empty, as a person reads them."""
        counted = {name: getattr(self, name) for name in type(self).model_fields}
        said = [f"{count:,} {account_label(name)}" for name, count in counted.items() if count]
        return ", ".join(said) or "nothing"


ACCOUNTS = tuple(AnswerAccounts.model_fields)
"""The names of the accounts, in the order in which they are shown."""


def account_label(name: str) -> str:
    """Return the words that stand for an account wherever people read it."""
    return name.replace("_", " ")


def total(accounts: Iterable[AnswerAccounts]) -> AnswerAccounts:
    """Return the sums of several windows' accounts."""
    found = list(accounts)
    return AnswerAccounts(**{name: sum(getattr(each, name) for each in found) for name in ACCOUNTS})
