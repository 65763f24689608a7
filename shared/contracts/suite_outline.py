"""What is known of a stored suite without reading its probes."""

from dataclasses import dataclass

from biaswatch.shared.contracts.suite import Suite, SuiteHeader


@dataclass(frozen=True)
class SuiteOutline:
    """A suite's header, and what was counted when it was stored."""

    hash: str
    header: SuiteHeader
    probes: int
    """How many questions it has."""
    pairs: int
    """How many sets are two questions about one context."""
    has_findings: bool
    """Whether there is anything to describe or compare."""
    purged: bool
    """Whether the texts of any probe were purged."""


def outline_of(suite: Suite) -> SuiteOutline:
    """Count what is shown of a suite."""
    return SuiteOutline(
        hash=suite.hash,
        header=suite.header,
        probes=len(suite.probes),
        pairs=suite.pairs,
        has_findings=suite.has_findings,
        purged=suite.purged,
    )
