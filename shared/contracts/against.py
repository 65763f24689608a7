"""What the groups of a dimension are compared with."""

from enum import StrEnum


class Against(StrEnum):
    """What each group is compared with."""

    AUTO = "auto"
    """Each other group, up to six of them; else all others together."""
    PAIRS = "pairs"
    """Each other group."""
    REST = "rest"
    """All others of its domain together."""
