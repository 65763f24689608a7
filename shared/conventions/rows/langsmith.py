"""Runs of LangSmith, as its SDK lists them or its bulk export writes them."""

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.messages import opened, prompt_in
from biaswatch.shared.conventions.rows.form import RowFormat, reply_content
from biaswatch.shared.conventions.signals import Fields


def _content(run: Fields) -> RecordedContent | None:
    """Read a call of a model, or the chain of a whole trace; None for other runs."""
    kind = str(run.get("run_type")).lower()
    if kind != "llm" and (kind != "chain" or run.get("parent_run_id")):
        return None
    outputs = opened(run.get("outputs"))
    return reply_content(outputs, run.get("error"), prompt_in(run.get("inputs")), last=True)


FORMAT = RowFormat(
    lambda row: {"run_type", "outputs"} <= row.keys(),
    _content,
    FieldMapping(
        id=("id",), time=("end_time", "start_time"),
        unit=("extra.metadata.user_id", "extra.metadata.thread_id", "extra.metadata.session_id",
              "trace_id"),
        model=("extra.metadata.ls_model_name",),
    ),
    parent=("parent_run_id",),
)  # fmt: skip
