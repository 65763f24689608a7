"""What a model is called among others: with how it was asked, wherever one of them was not plainly.

A row that is plainly asked says so where it stands beside rows that are not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

DIRECT = "direct"
"""The scaffold that asks the question as it is."""


class FromScaffold(Protocol):
    """Whatever was found under one scaffold."""

    @property
    def scaffold(self) -> str:
        """How it was asked."""


class FromTarget(FromScaffold, Protocol):
    """Whatever was found of one target under one scaffold."""

    @property
    def target(self) -> str:
        """Who was asked."""


@dataclass(frozen=True)
class ModelNames:
    """Names of what stands together in a list, a table or a picture."""

    with_scaffold: bool

    @classmethod
    def among(cls, found: Iterable[FromScaffold]) -> "ModelNames":
        """Return the names of these, which stand together."""
        return cls(any(each.scaffold != DIRECT for each in found))

    def of(self, found: FromTarget, called: str = "") -> str:
        """Return the target, as it is called, and the scaffold where these say theirs."""
        return self.asked(called or found.target, found.scaffold)

    def asked(self, what: str, scaffold: str) -> str:
        """Return what was asked, and how where these say theirs."""
        return f"{what}, {scaffold_words(scaffold)}" if self.with_scaffold else what


def scaffold_words(scaffold: str) -> str:
    """Return how something was asked, for people."""
    return scaffold.replace("_", " ")
