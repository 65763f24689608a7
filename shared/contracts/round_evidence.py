"""The record of the evidence of a round: many comparisons, compressed."""

from pydantic import NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.identity import RecordId
from biaswatch.shared.contracts.record import Record

HEADER = frozenset(
    {*("tenant", "purpose", "at", "monitor_id", "run_id", "epoch", "round"), "declared_after_data"}
)
"""Fields that all comparisons of a round share; they are in the record once."""


class RoundEvidence(Record):
    """Additions of a closed round to some comparisons, and the evidence after it; never made twice.

    A round of many comparisons is several parts. Both fields of text are columns, the values of
    each field in the order of the comparisons: JSON and numbers, compressed (zlib), in base64. The
    shared fields (tenant, purpose, at, monitor_id, run_id, epoch, round, declared_after_data) are
    in this record alone.
    """

    kind = "round_evidence"
    identity = ("monitor_id", "epoch", "round", "part")

    monitor_id: RecordId
    """The monitor."""
    run_id: RecordId
    """The run of the round."""
    epoch: NonNegativeInt
    """The epoch."""
    round: NonNegativeInt
    """The round."""
    declared_after_data: bool = False
    """True if the comparisons were declared after the answers were known: they may then have been
    chosen for their gaps, and no promise about false alarms holds."""
    part: NonNegativeInt
    """Which part of the round this is, counted from 0."""
    comparisons: PositiveInt
    """How many comparisons are in it."""
    increments: str
    """The addition of the round to each of them."""
    evidence: str
    """The evidence of each after all rounds of the epoch up to this one."""
