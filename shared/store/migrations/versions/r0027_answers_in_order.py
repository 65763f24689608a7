"""Answers of production are written in the order in which they were given."""

import hashlib
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Name the responses of answers that are there by the answers' own ids, as they were made.

    Texts are found by one of 64 parts of all units, which is the first byte of a unit's SHA-256.
    """
    op.add_column("taken_answer", sa.Column("response_id", sa.String(32)))
    op.execute(sa.text("UPDATE taken_answer SET response_id = answer_id"))
    op.create_index("taken_answer_response", "taken_answer", ["run_id", "response_id"])
    op.add_column("text", sa.Column("unit_part", sa.SmallInteger))
    unit_id = sa.column("unit_id", sa.Text)
    first_byte: sa.ColumnElement[int] = sa.func.get_byte(
        sa.func.sha256(sa.func.convert_to(unit_id, "UTF8")), 0
    )
    if op.get_bind().dialect.name == "sqlite":
        raw: Any = op.get_bind().connection.dbapi_connection
        raw.create_function("first_byte", 1, _first_byte, deterministic=True)
        first_byte = sa.func.first_byte(unit_id)
    texts = sa.table("text", unit_id, sa.column("unit_part", sa.SmallInteger))
    op.execute(sa.update(texts).where(unit_id.is_not(None)).values(unit_part=first_byte % 64))
    op.create_index("text_unit_part", "text", ["unit_part"])
    op.drop_index("text_unit", "text")


def _first_byte(unit_id: str) -> int:
    return hashlib.sha256(unit_id.encode()).digest()[0]
