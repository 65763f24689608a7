"""Suites are kept probe by probe, records are counted by run, and planning has cursors."""

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from biaswatch.shared.contracts import Suite
from biaswatch.shared.contracts.expansion import set_of

revision = "0019"
down_revision = "0018"

COUNTED = ("response", "features", "diagnosis", "verdict")
COUNTED_BY = ("run_id", "purpose", "lane")
NEW_SUITE_COLUMNS = {
    "probes": sa.Integer,
    "pairs": sa.Integer,
    "has_findings": sa.Boolean,
    "purged": sa.Boolean,
}
TOGETHER = 500
Row = dict[str, Any]


def upgrade() -> None:
    """Make the tables, split suites into header and probes, and count what there is.

    Processes of the version before cannot read suites on this store any more, and what they write
    meanwhile is not counted: their work waits on the bus for those of this version.
    """
    _make_tables()
    bind = op.get_bind()
    suite = sa.table(
        "suite", sa.column("hash"), sa.column("body"), *map(sa.column, NEW_SUITE_COLUMNS)
    )
    probe = sa.table(
        "suite_probe", *map(sa.column, ("hash", "position", "unit_id", "set_name", "body"))
    )
    for hash_ in bind.scalars(sa.select(suite.c.hash)).all():
        [body] = bind.scalars(sa.select(suite.c.body).where(suite.c.hash == hash_))
        whole = Suite.model_validate_json(body)
        rows = list(_probe_rows(hash_, whole))
        for first in range(0, len(rows), TOGETHER):
            bind.execute(probe.insert(), rows[first : first + TOGETHER])
        bind.execute(suite.update().where(suite.c.hash == hash_).values(_suite_row(whole)))
    counts = sa.table("record_count", *map(sa.column, (*COUNTED_BY, "kind", "records")))
    for kind in COUNTED:
        table = sa.table(kind, *map(sa.column, COUNTED_BY))
        by = [table.c[name] for name in COUNTED_BY]
        found = sa.select(*by, sa.literal(kind), sa.func.count()).where(table.c.run_id.is_not(None))
        columns = [*COUNTED_BY, "kind", "records"]
        op.execute(counts.insert().from_select(columns, found.group_by(*by)))


def _make_tables() -> None:
    for name, kind in NEW_SUITE_COLUMNS.items():
        default = sa.false() if kind is sa.Boolean else "0"
        op.add_column("suite", sa.Column(name, kind, nullable=False, server_default=default))
    op.create_table(
        "suite_probe",
        sa.Column("hash", sa.String(32), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("unit_id", sa.Text, nullable=False),
        sa.Column("set_name", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("suite_probe_unit", "suite_probe", ["unit_id"])
    op.create_table(
        "planning_cursor",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("lane", sa.String(96), primary_key=True),
        sa.Column("reached", sa.String(32), nullable=False),
        sa.Column("publication", sa.BigInteger, nullable=False),
        sa.Column("repair", sa.Boolean, nullable=False),
    )
    op.create_table(
        "record_count",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("kind", sa.String(32), primary_key=True),
        sa.Column("purpose", sa.String(16), primary_key=True),
        sa.Column("lane", sa.String(96), primary_key=True),
        sa.Column("records", sa.BigInteger, nullable=False),
    )


def _suite_row(suite: Suite) -> Row:
    return {
        "body": json.dumps(suite.model_dump(mode="json", exclude={"probes"})),
        "probes": len(suite.probes),
        "pairs": suite.pairs,
        "has_findings": suite.has_findings,
        "purged": suite.purged,
    }


def _probe_rows(hash_: str, suite: Suite) -> Iterator[Row]:
    for position, probe in enumerate(suite.probes):
        yield {
            "hash": hash_,
            "position": position,
            "unit_id": probe.unit_id,
            "set_name": set_of(probe),
            "body": probe.model_dump_json(exclude_defaults=True),
        }
