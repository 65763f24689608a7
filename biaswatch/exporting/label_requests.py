"""What the command line asks a gateway about labels."""

from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlencode

from biaswatch.exporting.label_tasks import Task
from biaswatch.exporting.rows import runs_named
from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from services.gateway.exports.views import AnswersPage, ExportedAnswer
from services.gateway.labels.requests import MOST_LABELS
from services.gateway.labels.views import AcceptedLabels, LabelPlan, SampleProgress, StoredLabel
from shared.contracts import LabelSample
from shared.contracts.judged_item import JUDGES
from shared.errors import UsageError

AT_ONCE = 500


async def latest_round(client: GatewayClient, name: str) -> str:
    """Return the run that is meant: the run itself, or the latest round of a monitor.

    Raises
    ------
    UsageError
        Nothing is named so, or a monitor has no round yet.
    """
    runs = await runs_named(client, name, None)
    if not runs:
        raise UsageError(f"The monitor {name} has no round yet.")
    return max(runs, key=lambda run: run.at).run_id


async def label_plan(
    client: GatewayClient, run_id: str, feature: str, group: str | None
) -> LabelPlan:
    """Return what labels would bring."""
    given = {"feature": feature} | ({"group": group} if group else {})
    return await client.read(
        LabelPlan, f"{path('runs', run_id, 'labels', 'plan')}?{urlencode(given)}"
    )


async def drawn_sample(client: GatewayClient, run_id: str, body: Any) -> SampleProgress:
    """Have answers drawn."""
    return await client.send(SampleProgress, path("runs", run_id, "labels", "samples"), body)


async def samples_of(client: GatewayClient, run_id: str) -> list[SampleProgress]:
    """Return the samples of a run, the latest last."""
    return await client.read(list[SampleProgress], path("runs", run_id, "labels", "samples"))


async def stored_labels(client: GatewayClient, run_id: str) -> list[StoredLabel]:
    """Return the labels of a run that hold."""
    return await client.read(list[StoredLabel], path("runs", run_id, "labels"))


async def send_labels(
    client: GatewayClient, sample: LabelSample, labels: Sequence[Any]
) -> dict[str, int]:
    """Send labels in, as many at once as the gateway takes; return what became of them."""
    took = {"new": 0, "known": 0, "undrawn": 0}
    about = {"extractor": sample.extractor, "feature": sample.feature}
    where = path("runs", sample.run_id, "labels")
    for start in range(0, len(labels), MOST_LABELS):
        body = {**about, "labels": labels[start : start + MOST_LABELS]}
        accepted = await client.send(AcceptedLabels, where, body)
        took = {name: count + getattr(accepted, name) for name, count in took.items()}
    return took


async def answers_of(client: GatewayClient, sample: LabelSample) -> list[Task]:
    """Return the drawn answers with their texts, in the order in which they are to be labelled.

    Raises
    ------
    UsageError
        What was drawn are pairs or reports that judges judged, which are no answers.
    """
    if sample.extractor in JUDGES:
        raise UsageError(
            f"What the {sample.extractor} judged is labelled on the dashboard, at"
            f" /runs/{sample.run_id}/label/{sample.id}; it has no answers to export."
        )
    order = {each.response_id: n for n, each in enumerate(sample.drawn)}
    found = await read_answers(client, sample.run_id, order.keys())
    return sorted(map(_task, found), key=lambda task: order[task["response_id"]])


async def read_answers(
    client: GatewayClient, run_id: str, wanted: Collection[str]
) -> list[ExportedAnswer]:
    """Read through a run until all answers that are wanted are found."""
    found: list[ExportedAnswer] = []
    after: str | None = ""
    while after is not None and len(found) < len(wanted):
        query = urlencode({"after": after, "limit": AT_ONCE})
        page = await client.read(AnswersPage, f"{path('runs', run_id, 'responses')}?{query}")
        found += [each for each in page.answers if each.response_id in wanted]
        after = page.after
    return found


def _task(answer: ExportedAnswer) -> Task:
    question = "\n\n".join(message.content for message in answer.messages)
    return {
        "response_id": answer.response_id, "question": question, "answer": answer.text or "",
    }  # fmt: skip
