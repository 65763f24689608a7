"""Labels over real HTTP: drawn, planned, taken in, taken back; and what the diagnoser makes."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from biaswatch.services.diagnoser.handlers.labels import CorrectByLabels
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.labels.commands import LabelCommands
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.contracts import Correction, Label, LabelSample, Response, Run
from biaswatch.shared.requests.labels import LabelsRequest
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.bus import ProvisionedBus
from tests.support.labelled_run import write_labelled_run
from tests.support.records import AT
from tests.support.waiting import PATIENCE_S


@dataclass
class LabelledApi:
    client: httpx2.AsyncClient
    store: Store
    run: Run
    truth: dict[str, float]

    async def post(self, what: str, body: Any) -> httpx2.Response:
        return await self.client.post(f"/v1/runs/{self.run.id}/{what}", json=body)

    async def get(self, what: str) -> Any:
        reply = await self.client.get(f"/v1/runs/{self.run.id}/{what}")
        assert reply.status_code == 200, reply.text
        return reply.json()

    def corrected(self) -> list[Correction]:
        """Do what the diagnoser does with new labels, and the recorder with what comes of it."""
        handler = CorrectByLabels(self.store, now=lambda: datetime.now(UTC), plan=AnalysisPlan())
        result = handler(list(self.store.records.read(Label, run_id=self.run.id)))
        self.store.records.write(result)
        return [item for item in result if isinstance(item, Correction)]


@pytest.fixture
async def api(bus: ProvisionedBus, store: Store) -> AsyncIterator[LabelledApi]:
    run, truth = write_labelled_run(store)
    app = web_app(GatewaySettings(), store, bus.publisher)
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        yield LabelledApi(client, store, run, truth)


async def draw(api: LabelledApi, **asked: Any) -> dict[str, Any]:
    reply = await api.post("labels/samples", {"feature": "rude", "wanted": 160, **asked})
    assert reply.status_code == 201, reply.text
    result: dict[str, Any] = reply.json()
    return result


async def test_labels_take_back_a_disparity_that_the_instrument_made(api: LabelledApi) -> None:
    drawn = (await draw(api, guidance="Is it rude?"))["sample"]
    assert [item["drawn"] for item in drawn["strata"]] == [80, 80]
    assert (drawn["low"], drawn["high"], drawn["choices"]) == (0, 1, [0, 1])
    labels = [
        {"response_id": item["response_id"], "value": api.truth[item["response_id"]]}
        for item in drawn["drawn"]
    ]
    body = {"extractor": "judge", "feature": "rude", "labels": labels}
    reply = await api.post("labels", body)
    assert reply.json() == {"new": 160, "known": 0, "undrawn": 0}
    assert (await api.get("corrections"))["behind"] is True
    [created] = api.corrected()
    result = await api.get("corrections")
    assert result["behind"] is False
    [shown] = result["corrections"]
    assert shown["id"] == created.id
    [gap] = shown["gaps"]
    assert gap["reading"]["high"] < 0  # asian less white, by the readings
    assert gap["verdict"] == "inconclusive"
    assert gap["corrected"]["low"] < 0 < gap["corrected"]["high"]
    assert gap["bias_p"] < 0.01
    assert (await api.get("labels/samples"))[0]["labelled"] == 160


async def test_the_same_request_draws_the_same_and_a_larger_sample_holds_it(
    api: LabelledApi,
) -> None:
    first, again, larger = [(await draw(api, wanted=n))["sample"] for n in (60, 60, 100)]
    assert first["id"] == again["id"]
    ids = [{item["response_id"] for item in sample["drawn"]} for sample in (first, larger)]
    assert ids[0] < ids[1]
    assert api.store.records.count(LabelSample) == 2
    order = [item["stratum"] for item in larger["drawn"]]
    assert order != sorted(order), "the queue would tell the group"


async def test_a_correction_is_a_new_label_and_the_last_one_holds(api: LabelledApi) -> None:
    id_ = (await draw(api))["sample"]["drawn"][0]["response_id"]

    async def say(**label: Any) -> dict[str, int]:
        values = {"response_id": id_, "person": "anna", **label}
        reply = await api.post(
            "labels", {"extractor": "judge", "feature": "rude", "labels": [values]}
        )
        assert reply.status_code == 202, reply.text
        result: dict[str, int] = reply.json()
        return result

    assert (await say(value=1))["new"] == 1
    assert (await say(value=1))["known"] == 1
    assert (await say(value=0))["new"] == 1
    [standing] = await api.get("labels")
    assert (standing["value"], standing["person"]) == (0, "anna")
    assert standing["probability"] == pytest.approx(2 / 3)
    await say(withdrawn=True)
    assert await api.get("labels") == []
    assert api.store.records.count(Label) == 3


async def test_labels_in_the_names_of_others_are_in_the_audit_trail_and_ones_own_are_not(
    api: LabelledApi,
) -> None:
    id_ = (await draw(api))["sample"]["drawn"][0]["response_id"]
    seen = len(list(api.store.audit.all()))
    for people in ([None], ["anna", "bert"], ["anna"]):  # the last says what is known
        values = [{"response_id": id_, "value": 1, "person": item} for item in people]
        body = {"extractor": "judge", "feature": "rude", "labels": values}
        assert (await api.post("labels", body)).status_code == 202
    [entry] = list(api.store.audit.all())[seen:]
    assert (entry.action, entry.subject) == ("labels.import", api.run.id)
    assert dict(entry.details) == {"number": "judge.rude", "labels": "2", "people": "2"}


async def test_what_cannot_be_taken_is_said_and_nothing_of_it_is_kept(api: LabelledApi) -> None:
    first = (await draw(api))["sample"]["drawn"][0]["response_id"]
    for labels, text in (
        ([{"response_id": first, "value": 0.5}], "is none of 0, 1"),
        ([{"response_id": first, "value": 7}], "outside the scale"),
        ([{"response_id": first, "value": 1}, {"response_id": "f" * 32, "value": 1}], "no answer"),
    ):
        reply = await api.post(
            "labels", {"extractor": "judge", "feature": "rude", "labels": labels}
        )
        assert reply.status_code == 422, reply.text
        assert text in reply.text
    reply = await api.post("labels/samples", {"feature": "kind"})
    assert "no number named kind. Measured are: judge.rude." in reply.text
    reply = await api.post("labels/samples", {"feature": "rude", "group": "age"})
    assert "The answers have: race." in reply.text
    assert api.store.records.count(Label) == 0


async def test_a_plan_says_what_labels_will_bring(api: LabelledApi) -> None:
    plan = await api.get("labels/plan?feature=judge.rude")
    assert plan["groups"] == {"asian": 120, "white": 120}
    widths = {(e["labels_of_a_group"], e["correlation"]): e["half_width"] for e in plan["lines"]}
    assert widths[100, 0.0] < widths[50, 0.0]
    assert widths[50, 0.9] < widths[50, 0.0]
    assert plan["by_readings"] < widths[50, 0.9]
    assert (plan["units"], plan["repeats"]) == (120, 1)
    assert plan["labels_for_a_tenth"] == 30
    opened = {line["labels_of_a_group"]: line["widest_share"] for line in plan["lines"]}
    assert opened[100] < opened[50] < 0.1


async def test_a_purge_of_a_unit_takes_its_labels_along(api: LabelledApi) -> None:
    one = (await draw(api))["sample"]["drawn"][0]["response_id"]
    [response] = api.store.records.get(Response, [one])
    await api.post(
        "labels",
        {"extractor": "judge", "feature": "rude", "labels": [{"response_id": one, "value": 1}]},
    )
    assert response.unit is not None
    api.store.purges.unit(response.unit, AT)
    [left] = await api.get("labels")
    assert (left["value"], left["person"]) == (None, "")


def said(*values: float | None, answer: str) -> LabelsRequest:
    labels = [{"response_id": answer, "value": value} for value in values]
    return LabelsRequest.model_validate({"extractor": "judge", "feature": "rude", "labels": labels})


def test_labels_of_one_person_posted_simultaneously_are_all_kept(store: Store) -> None:
    run, truth = write_labelled_run(store)
    runs = RunQueries(store)
    commands = LabelCommands(store, runs, LabelQueries(store, runs), lambda: AT)
    first, second, *_ = truth
    # Every post reads the history before any of them writes.
    posts = [
        said(0, answer=first), said(1, answer=first), said(1, answer=first),
        said(0, 1, answer=first), said(None, answer=second),
    ]  # fmt: skip
    accepted = [commands.check_labels(run.id, post, "anna") for post in posts]
    kept = [
        commands.store_labels(run.id, *pair).accepted for pair in zip(posts, accepted, strict=True)
    ]
    # The third says what the second said, so it is known.
    assert [(post.new, post.known) for post in kept] == [(1, 0), (1, 0), (0, 1), (2, 0), (1, 0)]
    labels = sorted(store.records.read(Label, run_id=run.id), key=lambda label: label.number)
    by_answer = {
        answer: [label.value for label in labels if label.response_id == answer]
        for answer in (first, second)
    }
    assert by_answer == {first: [0, 1, 0, 1], second: [None]}


async def test_simultaneous_posts_of_labels_are_answered_with_what_is_stored(
    api: LabelledApi,
) -> None:
    answers = list(api.truth)[:20]
    bodies = [
        {"extractor": "judge", "feature": "rude", "labels": [{"response_id": id_, "value": value}]}
        for id_ in answers
        for value in (0, 1)
    ]
    replies = await asyncio.gather(*(api.post("labels", body) for body in bodies))
    assert sum(reply.json()["new"] for reply in replies) == len(bodies)
    assert api.store.records.count(Label, run_id=api.run.id) == len(bodies)
