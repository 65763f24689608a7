"""An estimate with its interval, a verdict, and the check of a level.

Contracts carry both types as they are, and services without numpy import them: this module
imports only the standard library.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar


class Verdict(StrEnum):
    """What a comparison concludes."""

    DISPARITY = "disparity"
    NO_DISPARITY = "no_disparity"
    NOT_ENOUGH = "not_enough_evidence"


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, or why there is none: what is undefined is null, never 0."""

    __pydantic_config__: ClassVar = {
        "extra": "ignore",
        "use_attribute_docstrings": True,
        "allow_inf_nan": False,
    }

    value: float | None = field(default=None, metadata={"description": "The number."})
    low: float | None = field(
        default=None, metadata={"description": "The lower end of its interval."}
    )
    high: float | None = field(
        default=None, metadata={"description": "The upper end of its interval."}
    )
    method: str = field(default="", metadata={"description": "How the interval was made."})
    reason: str | None = field(
        default=None, metadata={"description": "Why the number or its interval is undefined."}
    )

    def __neg__(self) -> "Estimate":
        """Return the estimate of the opposite number: ends change places."""
        return Estimate(
            value=None if self.value is None else -self.value,
            low=None if self.high is None else -self.high,
            high=None if self.low is None else -self.low,
            method=self.method,
            reason=self.reason,
        )


def undefined(reason: str, *, value: float | None = None, method: str = "") -> Estimate:
    """Return an estimate without an interval, or without a value too, and the reason."""
    return Estimate(value=value, method=method, reason=reason)


def check_alpha(alpha: float) -> None:
    """Raise ValueError, with one sentence, unless alpha lies between 0 and 1."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha:g}, but it has to lie between 0 and 1.")
