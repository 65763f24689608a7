"""What pages need: where the questions about each group stand, and which forms were sent."""

import json
from array import array

import sqlalchemy as sa
from alembic import op

from biaswatch.shared.store.suite_uploads import POSITION, in_order

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Make both tables, and gather the groups of the suites that are there."""
    _make_tables()
    bind = op.get_bind()
    suite = sa.table("suite", sa.column("hash"))
    for hash_ in bind.scalars(sa.select(suite.c.hash)).all():
        _gather(bind, hash_)


def _make_tables() -> None:
    op.create_table(
        "suite_group",
        sa.Column("hash", sa.String(32), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("dimension", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("probes", sa.Integer, nullable=False),
        sa.Column("positions", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "sent_form",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
    )
    op.create_index("sent_form_at", "sent_form", ["at"])


def _gather(bind: sa.Connection, hash_: str) -> None:
    probe = sa.table("suite_probe", *map(sa.column, ("hash", "position", "body")))
    query = sa.select(probe.c.position, probe.c.body).where(probe.c.hash == hash_)
    places: dict[tuple[str, str], array[int]] = {}
    for position, body in bind.execute(query.order_by(probe.c.position)):
        for named in json.loads(body).get("groups", {}).items():
            places.setdefault(named, array(POSITION)).append(position)
    columns = ("hash", "number", "dimension", "name", "probes", "positions")
    table = sa.table("suite_group", *map(sa.column, columns))
    for number, ((dimension, name), mine) in enumerate(sorted(places.items())):
        packed = in_order(mine).tobytes()
        row = dict(zip(columns, (hash_, number, dimension, name, len(mine), packed), strict=True))
        bind.execute(table.insert(), row)
