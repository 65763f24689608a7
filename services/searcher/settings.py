"""The settings of the searcher."""

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class SearcherSettings(Settings):
    """Settings of the searcher, in addition to those of every service."""

    searcher_look_s: float = Field(default=0.5, gt=0)
    """How often the state of searches is read."""
