"""Facts that several users share, such as a company or account, and no monitor declares."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from biaswatch.shared.analysis.monitors.window_writing import WindowAnswer

NAMES = re.compile(
    r"(^|[_\W])(company|account|org|organi[sz]ation|customer|client|firm|tenant|team|workspace"
    r"|employer|school)s?([_\W]|$)"
)
LEAST_VALUES = 10
"""Values that a fact without such a name must have."""
LEAST_SHARE = 0.5
"""Share of users whose value another user has."""
LEAST_CONSTANT = 0.95
"""Share of users with the same value in all of their answers."""
MAX_USERS, MAX_FACTS = 5_000, 20
"""Users of a window, and facts, that are considered; bounds memory."""


class SharedFacts:
    """Finds facts of a window that may make its users depend on each other."""

    def __init__(self, declared: Collection[str]) -> None:
        self._declared = declared
        self._values: dict[str, dict[str, str | None]] = {}
        """The value of each user by fact; None where answers of a user differ."""

    def add(self, answers: Iterable[WindowAnswer]) -> None:
        """Note the facts of some answers."""
        for answer in answers:
            for name in answer.facts.keys() - self._declared:
                if len(self._values) < MAX_FACTS or name in self._values:
                    self._note(self._values.setdefault(name, {}), answer, answer.facts[name])

    def _note(self, users: dict[str, str | None], answer: WindowAnswer, value: str) -> None:
        if answer.user is not None and (len(users) < MAX_USERS or answer.user in users):
            users[answer.user] = value if users.get(answer.user, value) == value else None

    def found(self) -> dict[str, int]:
        """Return the number of values of each shared fact, by its name."""
        shared = {name: _shared_values(name, users) for name, users in self._values.items()}
        return {name: values for name, values in sorted(shared.items()) if values}


def _shared_values(name: str, users: Mapping[str, str | None]) -> int:
    """Return how many values a fact has; 0 if it does not join users."""
    constant = [value for value in users.values() if value is not None]
    sizes = Counter(constant)
    joined = sum(size for size in sizes.values() if size > 1)
    is_named = NAMES.search(name.lower()) is not None
    if len(sizes) < (2 if is_named else LEAST_VALUES):
        return 0
    is_constant = len(constant) >= LEAST_CONSTANT * len(users)
    return len(sizes) if is_constant and joined >= LEAST_SHARE * len(users) else 0
