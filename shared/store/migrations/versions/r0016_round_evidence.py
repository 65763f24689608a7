"""The evidence of a round is kept in few compressed records, no longer in two per comparison."""

import json
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from biaswatch.shared.contracts import derived_id
from biaswatch.shared.store.migrations import make_record_table

revision = "0016"
down_revision = "0015"

OLD = ("increment", "evidence")
HEADER = ("tenant", "purpose", "at", "monitor_id", "run_id", "epoch", "round")
COLUMNS = ("id", "tenant", "purpose", "lane", "run_id", "unit_id", "at", "monitor_id", "body")
TOGETHER = 256
Row = dict[str, Any]


def upgrade() -> None:
    """Make the new table, write into it what the old ones hold, and drop these.

    Processes of the version before cannot close rounds on this store any more; what they read of a
    round is read again by those of this version.
    """
    make_record_table("round_evidence", "monitor_id")
    table = sa.table("round_evidence", *map(sa.column, COLUMNS))
    bind = op.get_bind()
    runs = bind.scalars(sa.text("SELECT DISTINCT run_id FROM evidence ORDER BY run_id")).all()
    for run_id in runs:
        bind.execute(table.insert(), list(_rows(bind, run_id)))
    for kind in OLD:
        op.drop_table(kind)


def _rows(bind: sa.Connection, run_id: str) -> Iterator[Row]:
    """Return the new rows of a round, the comparisons in the order of their names."""
    found = [_by_comparison(bind, kind, run_id) for kind in OLD]
    keys = sorted(found[1])
    for part, start in enumerate(range(0, len(keys), TOGETHER)):
        some = keys[start : start + TOGETHER]
        increments, evidence = ([each[key] for key in some] for each in found)
        row, body = evidence[0]
        header = {name: body[name] for name in HEADER}
        texts = dict(
            zip(("increments", "evidence"), map(_packed, (increments, evidence)), strict=True)
        )
        whole = {**header, "part": part, "comparisons": len(some), **texts}
        inputs = (body["monitor_id"], body["epoch"], body["round"], part)
        id_ = derived_id("round_evidence", body["tenant"], body["purpose"], *inputs)
        yield {**row, "id": id_, "body": json.dumps(whole, separators=(",", ":"))}


def _by_comparison(bind: sa.Connection, kind: str, run_id: str) -> dict[str, tuple[Row, Row]]:
    """Return the rows of a round with their bodies, by what is compared."""
    table = sa.table(kind, *map(sa.column, COLUMNS))
    rows = bind.execute(sa.select(table).where(table.c.run_id == run_id)).mappings()
    found = ((dict(row), json.loads(row["body"])) for row in rows)
    return {json.dumps(body["comparison"]): (row, body) for row, body in found}


def _packed(bodies: Sequence[tuple[Row, Row]]) -> str:
    """Return lines of JSON without what all have in common, compressed, in base64."""
    lines = (
        json.dumps({name: value for name, value in body.items() if name not in HEADER})
        for _, body in bodies
    )
    return b64encode(zlib.compress("\n".join(lines).encode())).decode()
