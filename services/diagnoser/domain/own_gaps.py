"""A model's gap beside the gap of the instrument that measured it."""

from collections.abc import Sequence
from dataclasses import replace

from services.diagnoser.domain.findings import Finding
from shared.contracts import Estimate, Gap, OwnGap


def with_own_gaps(finding: Finding, own: Sequence[OwnGap]) -> Finding:
    """Put beside each gap what the extractor alone makes of the two names, where it is known."""
    mine = [each for each in own if each.feature == finding.question.feature]
    gaps = (gap.model_copy(update={"instrument": _between(gap, mine)}) for gap in finding.gaps)
    return replace(finding, gaps=tuple(gaps))


def _between(gap: Gap, own: Sequence[OwnGap]) -> Estimate | None:
    """Find the gap of the same two names, whatever their case and their order."""
    names = (gap.a.casefold(), gap.b.casefold())
    for each in own:
        known = (each.a.casefold(), each.b.casefold())
        if known == names:
            return each.gap
        if known == names[::-1]:
            return _turned(each.gap)
    return None


def _turned(gap: Estimate) -> Estimate:
    turned = {"value": gap.value, "low": gap.high, "high": gap.low}
    return gap.model_copy(
        update={name: None if value is None else -value for name, value in turned.items()}
    )
