"""Outlines of whole suites, as the store counts them part by part."""

from biaswatch.shared.contracts import Suite, SuiteOutline


def outline_of(suite: Suite) -> SuiteOutline:
    """Return the outline of a suite."""
    return SuiteOutline(
        hash=suite.hash,
        header=suite.header,
        probes=len(suite.probes),
        pairs=suite.pairs,
        has_findings=suite.has_findings,
        purged=suite.purged,
    )
