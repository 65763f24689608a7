"""All tables of version 1.0, with literal values: no change of a model alters this revision."""

import sqlalchemy as sa
from alembic import op

revision = "1002"
down_revision = None

TIME = sa.DateTime(timezone=True)
RECORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "run": ((), ("run_id",)),
    "cancellation": ((), ("run_id",)),
    "probe": ((), ()),
    "response": (("probe_id",), ("run_id",)),
    "features": (
        ("probe_id", "response_id", "extractor", "extractor_version"),
        ("response_id", "run_id"),
    ),
    "completion": (("stage",), ("run_id",)),
    "diagnosis": (("completion_id",), ("completion_id", "run_id")),
    "assessment": (("completion_id",), ("completion_id", "run_id")),
    "verdict": ((), ("run_id",)),
    "brief": ((), ("run_id",)),
    "evaluation": (("brief_id",), ("brief_id", "run_id")),
    "monitor": (("name", "monitor_id"), ("monitor_id", "run_id")),
    "round": (("monitor_id",), ("monitor_id", "run_id")),
    "round_evidence": (("monitor_id",), ("monitor_id", "run_id")),
    "description": (("monitor_id",), ("monitor_id", "run_id")),
    "label_sample": ((), ("run_id",)),
    "label": (("response_id",), ("response_id", "run_id")),
    "correction": ((), ("run_id",)),
    "alarm": (("monitor_id",), ("monitor_id", "run_id")),
}
"""Kinds of records: columns besides the common ones, and columns with an index."""
APPEND_ONLY = "the audit trail is append-only"


def upgrade() -> None:
    """Create all tables."""
    for kind, (keys, indexed) in RECORDS.items():
        _create_records(kind, keys, indexed)
    _create_texts()
    _create_extractors()
    _create_suites()
    _create_runs()
    _create_calls()
    _create_monitors()
    _create_searches()
    _create_traffic()
    _create_archive()
    _create_gateway()


def _create_records(kind: str, keys: tuple[str, ...], indexed: tuple[str, ...]) -> None:
    op.create_table(
        kind,
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("lane", sa.String(96), nullable=False),
        sa.Column("run_id", sa.String(32)),
        sa.Column("unit_id", sa.Text),
        sa.Column("at", TIME, nullable=False),
        *(sa.Column(key, sa.String(96), nullable=False) for key in keys),
        sa.Column("body", sa.Text, nullable=False),
    )
    for column in indexed:
        op.create_index(f"{kind}_{'run' if column == 'run_id' else column}", kind, [column])


def _create_texts() -> None:
    op.create_table(
        "purge",
        sa.Column("tenant", sa.String(96), primary_key=True),
        sa.Column("scope", sa.String(16), primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("at", TIME, nullable=False),
    )
    op.create_index("purge_key", "purge", ["key"])
    op.create_table(
        "record_count",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("kind", sa.String(32), primary_key=True),
        sa.Column("purpose", sa.String(16), primary_key=True),
        sa.Column("lane", sa.String(96), primary_key=True),
        sa.Column("records", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "text",
        sa.Column("record_id", sa.String(32), primary_key=True),
        sa.Column("field", sa.String(96), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("run_id", sa.String(32)),
        sa.Column("unit_id", sa.Text),
        sa.Column("at", TIME, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("unit_part", sa.SmallInteger),
    )
    op.create_index("text_at", "text", ["at"])
    op.create_index("text_run", "text", ["run_id"])
    op.create_index("text_unit_part", "text", ["unit_part"])


def _create_extractors() -> None:
    op.create_table(
        "baseline",
        sa.Column("extractor", sa.String(96), primary_key=True),
        sa.Column("version", sa.String(96), primary_key=True),
        sa.Column("text_hash", sa.String(32), primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
    )
    op.create_table(
        "calibration",
        sa.Column("extractor", sa.String(96), primary_key=True),
        sa.Column("version", sa.String(96), primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
    )
    op.create_table(
        "extractor",
        sa.Column("name", sa.String(96), primary_key=True),
        sa.Column("version", sa.String(96), primary_key=True),
        sa.Column("features", sa.Text, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("instrument", sa.Text, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("lag", sa.Integer),
        sa.Column("rate_per_s", sa.Float),
        sa.Column("last_error", sa.Text),
        sa.Column("refused", sa.Text),
    )


def _create_suites() -> None:
    op.create_table(
        "suite",
        sa.Column("hash", sa.String(32), primary_key=True),
        sa.Column("name", sa.String(96), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("probes", sa.Integer, nullable=False),
        sa.Column("pairs", sa.Integer, nullable=False),
        sa.Column("has_findings", sa.Boolean, nullable=False),
        sa.Column("purged", sa.Boolean, nullable=False),
    )
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
        "suite_probe",
        sa.Column("hash", sa.String(32), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("unit_id", sa.Text, nullable=False),
        sa.Column("set_name", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("suite_probe_unit", "suite_probe", ["unit_id"])
    op.create_table(
        "suite_tenant",
        sa.Column("hash", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), primary_key=True),
    )


def _create_runs() -> None:
    op.create_table(
        "gather",
        sa.Column("stage", sa.String(96), primary_key=True),
        sa.Column("key", sa.String(96), primary_key=True),
        sa.Column("context", sa.Text, nullable=False),
        sa.Column("deadline", TIME, nullable=False),
        sa.Column("expected", sa.Integer, nullable=False),
        sa.Column("arrived", sa.Integer, nullable=False),
        sa.Column("late", sa.Integer, nullable=False),
        sa.Column("opening", sa.Integer, nullable=False, server_default="0"),
        sa.Column("closed_by", sa.String(16)),
        sa.Column("closed_at", TIME),
        sa.Column("emitted_at", TIME),
        sa.Column("recorded_at", TIME),
        sa.Column("opened_at", TIME, nullable=False),
    )
    op.create_index("gather_open", "gather", ["stage", "closed_at", "deadline"])
    op.create_index("gather_told", "gather", ["stage", "recorded_at", "emitted_at"])
    op.create_table(
        "judging_cursor",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("lane", sa.String(96), primary_key=True),
        sa.Column("reached", sa.String(32), nullable=False),
        sa.Column("publication", sa.BigInteger, nullable=False),
        sa.Column("repair", sa.Boolean, nullable=False),
    )
    op.create_table(
        "planning_cursor",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("lane", sa.String(96), primary_key=True),
        sa.Column("reached", sa.String(32), nullable=False),
        sa.Column("publication", sa.BigInteger, nullable=False),
        sa.Column("repair", sa.Boolean, nullable=False),
    )
    op.create_table(
        "gather_item",
        sa.Column("stage", sa.String(96), primary_key=True),
        sa.Column("key", sa.String(96), primary_key=True),
        sa.Column("item_id", sa.String(96), primary_key=True),
        sa.Column("arrived_at", TIME),
        sa.Column("late", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.ForeignKeyConstraint(
            ["stage", "key"], ["gather.stage", "gather.key"], ondelete="CASCADE"
        ),
    )
    op.create_index("gather_item_id", "gather_item", ["item_id"])


def _create_calls() -> None:
    op.create_table(
        "begun_call",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("times", sa.Integer, nullable=False),
    )
    op.create_index("begun_call_at", "begun_call", ["at"])
    op.create_table(
        "call",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("unit_id", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("answer", sa.Text),
    )
    op.create_index("call_at", "call", ["at"])
    op.create_index("call_run", "call", ["run_id"])
    op.create_index("call_unit", "call", ["unit_id"])
    op.create_table(
        "batch",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("lane", sa.String(96), nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("requests", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("file_id", sa.Text),
        sa.Column("provider_id", sa.Text),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("expires_at", TIME),
        sa.Column("ended", sa.Boolean, nullable=False),
    )
    op.create_index("batch_run", "batch", ["run_id"])
    op.create_index("batch_ended", "batch", ["ended", "at"])
    op.create_table(
        "batched_call",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("unit_id", sa.Text, nullable=False),
        sa.Column("lane", sa.String(96), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("step", sa.Text, nullable=False),
        sa.Column("probe", sa.Text),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("batch_id", sa.String(32)),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("outcome", sa.Text),
    )
    op.create_index("batched_call_batch", "batched_call", ["batch_id"])
    op.create_index("batched_call_run", "batched_call", ["run_id"])
    op.create_index("batched_call_unit", "batched_call", ["unit_id"])
    op.create_index("batched_call_at", "batched_call", ["at"])
    op.create_table(
        "paused_target",
        sa.Column("lane", sa.String(96), primary_key=True),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.Column("refusals", sa.Integer, nullable=False),
        sa.Column("next_try_at", TIME, nullable=False),
    )
    op.create_table(
        "spending",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.Float(53), nullable=False),
        sa.Column("unknown_tokens", sa.BigInteger, nullable=False),
        sa.Column("unknown_cost", sa.BigInteger, nullable=False),
        sa.Column("most_tokens", sa.BigInteger),
        sa.Column("most_cost", sa.Float(53)),
    )


def _create_monitors() -> None:
    op.create_table(
        "alarm_delivery",
        sa.Column("alarm_id", sa.String(32), primary_key=True),
        sa.Column("channel", sa.String(128), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("topic", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("over", sa.Boolean, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("why", sa.Text),
    )
    op.create_index("alarm_delivery_due", "alarm_delivery", ["state", "channel", "next_at"])
    op.create_table(
        "channel",
        sa.Column("name", sa.String(96), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("trouble", sa.Text),
    )
    op.create_table(
        "entry",
        sa.Column("monitor_id", sa.String(32), primary_key=True),
        sa.Column("epoch", sa.Integer, primary_key=True),
        sa.Column("dimension", sa.Text, primary_key=True),
        sa.Column("unit", sa.String(32), primary_key=True),
        sa.Column("round", sa.Integer, nullable=False),
    )
    op.create_table(
        "schedule",
        sa.Column("tenant", sa.String(96), primary_key=True),
        sa.Column("name", sa.String(96), primary_key=True),
        sa.Column("moment_ms", sa.BigInteger, nullable=False),
        sa.Column("monitor_id", sa.String(32), nullable=False),
        sa.Column("monitor", sa.Text, nullable=False),
        sa.Column("next_round", sa.Integer, nullable=False),
        sa.Column("due_at", TIME, nullable=False),
        sa.Column("run", sa.Text),
        sa.Column("ended", sa.Text),
    )


def _create_searches() -> None:
    op.create_table(
        "search",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("space", sa.String(96), nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("calls", sa.Integer, nullable=False),
        sa.Column("asked", sa.Integer, nullable=False),
        sa.Column("missing", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("why", sa.Text),
        sa.Column("next_round", sa.Integer, nullable=False),
        sa.Column("run", sa.Text),
        sa.Column("planned_calls", sa.Integer),
    )
    op.create_index("search_state", "search", ["state"])
    op.create_table(
        "search_round",
        sa.Column("search_id", sa.String(32), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("body", sa.Text, nullable=False),
    )


def _create_traffic() -> None:
    op.create_table(
        "answer_part",
        sa.Column("tenant", sa.String(96), primary_key=True),
        sa.Column("source", sa.String(96), primary_key=True),
        sa.Column("key", sa.String(512), primary_key=True),
        sa.Column("part", sa.String(32), primary_key=True),
        sa.Column("at", TIME, nullable=False),
        sa.Column("spans", sa.Integer, nullable=False),
        sa.Column("answers", sa.Integer, nullable=False),
        sa.Column("closes", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("answer_part_at", "answer_part", ["at"])
    op.create_table(
        "other_sending",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("answer_id", sa.String(32), primary_key=True),
        sa.Column("sending", sa.String(40), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "taken_answer",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("answer_id", sa.String(32), primary_key=True),
        sa.Column("sending", sa.String(40), nullable=False),
        sa.Column("late", sa.Boolean, nullable=False),
        sa.Column("response_id", sa.String(32), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("taken_answer_response", "taken_answer", ["run_id", "response_id"])
    op.create_table(
        "traffic_window",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("monitor_id", sa.String(32), nullable=False),
        sa.Column("begins", TIME, nullable=False),
        sa.Column("ends", TIME, nullable=False),
        sa.Column("fixed_at", TIME),
        sa.Column("evidence", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("described", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("unmeasured", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("without_text", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("without_group", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("waiting", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("late", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("duplicate", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("refused", sa.BigInteger, nullable=False, server_default="0"),
    )
    op.create_index("traffic_window_monitor", "traffic_window", ["monitor_id", "begins"])
    op.create_table(
        "unwatched_answer",
        sa.Column("tenant", sa.String(96), primary_key=True),
        sa.Column("source", sa.String(96), primary_key=True),
        sa.Column("answers", sa.BigInteger, nullable=False),
        sa.Column("first_at", TIME, nullable=False),
        sa.Column("last_at", TIME, nullable=False),
    )


def _create_archive() -> None:
    op.create_table(
        "archive_file",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("path", sa.String(1024), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("dataset", sa.String(16), nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("verified", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("pending_deletion", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("purged_at", TIME, nullable=False),
        sa.Column("uri", sa.Text),
        sa.Column("kind", sa.String(16)),
        sa.Column("source", sa.String(96)),
        sa.Column("first_id", sa.String(32)),
        sa.Column("last_id", sa.String(32)),
    )
    op.create_index("archive_file_dataset", "archive_file", ["dataset", "tenant"])
    op.create_index("archive_file_ids", "archive_file", ["kind", "last_id"])
    op.create_table(
        "archived_run",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("source", sa.String(512), nullable=False),
        sa.Column("uri", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("answers", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("measurements", sa.BigInteger, nullable=False, server_default="0"),
    )
    op.create_index("archived_run_state", "archived_run", ["state"])


def _create_gateway() -> None:
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
    op.create_table(
        "sent_form",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("at", TIME, nullable=False),
        sa.Column("done", sa.Boolean, nullable=False),
    )
    op.create_index("sent_form_at", "sent_form", ["at"])
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_entry_no_{verb.lower()} BEFORE {verb} ON audit_entry"
                f" BEGIN SELECT RAISE(ABORT, '{APPEND_ONLY}'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{APPEND_ONLY}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entry"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
    )
