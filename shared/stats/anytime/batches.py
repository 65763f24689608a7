"""A batch of binary outcomes of two groups, and what its margins leave open."""

from dataclasses import dataclass

LARGEST = 1_000_000


@dataclass(frozen=True)
class Batch:
    """Responses that differ in nothing but their group, such as those to one prompt."""

    selected_1: int
    n_1: int
    selected_2: int
    n_2: int

    def __post_init__(self) -> None:
        """Refuse more selected than there are."""
        if not (0 <= self.selected_1 <= self.n_1 and 0 <= self.selected_2 <= self.n_2):
            raise ValueError(f"a batch has from 0 to n selected in each group, not {self}")
        if self.size > LARGEST:
            raise ValueError(f"a batch has at most {LARGEST:,} responses: give each prompt its own")

    @property
    def size(self) -> int:
        """Return the number of responses."""
        return self.n_1 + self.n_2

    @property
    def margins(self) -> tuple[int, int, int]:
        """Return what is taken as given: both sizes and the number selected."""
        return self.n_1, self.n_2, self.selected_1 + self.selected_2

    @property
    def least(self) -> int:
        """Return the fewest of group 1 that the margins allow."""
        return max(0, self.selected_1 + self.selected_2 - self.n_2)

    @property
    def most(self) -> int:
        """Return the most of group 1 that the margins allow."""
        return min(self.n_1, self.selected_1 + self.selected_2)

    @property
    def tells(self) -> bool:
        """Tell whether the margins leave anything open."""
        return self.least < self.most
