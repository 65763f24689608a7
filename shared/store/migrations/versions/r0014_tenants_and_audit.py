"""Tenants are told apart everywhere, and who did what is kept in an audit trail."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

OLD = "default"
"""The tenant of everything from before."""


def upgrade() -> None:
    """Add the tenant to texts, calls, purges, suites and the schedule; make the audit trail.

    Services of the version before work on with this: what they write is the tenant's `default`.
    """
    for table in ("text", "call"):
        op.add_column(table, _tenant(OLD))
    _add_tenant_to_key(
        "purge",
        _tenant(""),
        sa.Column("scope", sa.String(16), nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        key=("tenant", "scope", "key"),
    )
    _add_tenant_to_key(
        "schedule",
        _tenant(OLD),
        sa.Column("name", sa.String(96), nullable=False),
        sa.Column("moment_ms", sa.BigInteger, nullable=False),
        sa.Column("monitor_id", sa.String(32), nullable=False),
        sa.Column("monitor", sa.Text, nullable=False),
        sa.Column("next_round", sa.Integer, nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("run", sa.Text),
        sa.Column("ended", sa.Text),
        key=("tenant", "name"),
    )
    op.create_table(
        "suite_tenant",
        sa.Column("hash", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), primary_key=True),
    )
    op.execute("INSERT INTO suite_tenant (hash, tenant) SELECT hash, 'default' FROM suite")
    _make_audit_trail()


def _tenant(before: str) -> "sa.Column[str]":
    return sa.Column("tenant", sa.String(96), nullable=False, server_default=before)


def _add_tenant_to_key(
    table: str, tenant: "sa.Column[str]", *columns: "sa.Column[Any]", key: tuple[str, ...]
) -> None:
    """Make the tenant a part of a table's key; SQLite cannot, so its table is made anew."""
    if op.get_bind().dialect.name != "sqlite":
        op.add_column(table, tenant)
        op.drop_constraint(f"{table}_pkey", table)
        op.create_primary_key(f"{table}_pkey", table, list(key))
        return
    anew = op.create_table(f"{table}_anew", tenant, *columns, sa.PrimaryKeyConstraint(*key))
    kept = [each.name for each in columns]
    old = sa.table(table, *(sa.column(name) for name in kept))
    op.execute(anew.insert().from_select(kept, sa.select(old)))
    op.drop_table(table)
    op.rename_table(f"{table}_anew", table)


def _make_audit_trail() -> None:
    op.create_table(
        "audit_entry",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("tenant", sa.String(96)),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("failure", sa.Text),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.create_index("audit_entry_subject", "audit_entry", ["subject"])
    refused = "the audit trail is append-only"
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_entry_no_{verb.lower()} BEFORE {verb} ON audit_entry"
                f" BEGIN SELECT RAISE(ABORT, '{refused}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{refused}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entry"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
    )
