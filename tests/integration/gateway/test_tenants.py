"""Every route with tokens of every role and of another tenant: who may, and what each sees.

A route that is not in the table below fails the first test: say there how it is asked for.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from fastapi import FastAPI

from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.dashboard.page_forms import (
    FORM_COOKIE,
    FORM_FIELD,
    form_token,
    new_form_id,
)
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import ROUTES, AuditAction, Response, record_of
from biaswatch.shared.contracts.access import RIGHTS, Right, TokenRole, verifier_of
from biaswatch.shared.contracts.alarm_delivery import DeliveryState
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from biaswatch.shared.store.database import Scope
from biaswatch.shared.store.tables import RECORDS
from tests.support.bus import ProvisionedBus
from tests.support.searched import small_space
from tests.support.tenant_records import (
    CHANNEL,
    MONITOR,
    TEXT,
    TRAFFIC,
    TenantRecords,
    add_tenant,
    secret_of,
)
from tests.support.waiting import PATIENCE_S

OURS, OTHERS = "hiring", "lending"
NOT_FOUND, FOUND, REDIRECT = 404, 200, 303


@dataclass(frozen=True)
class Asked:
    """How a route is asked for, and what is expected of it."""

    right: Right | None
    """None: anybody may."""
    path: str = ""
    """The path for `{run}`, `{brief}`; the route's own path if empty."""
    body: Any = None
    """JSON, in which `{run}` and others are replaced."""
    names: bool = False
    """Whether something of one tenant is named, which is not there for the other."""
    texts: bool = False
    """Whether the reply holds texts."""
    action: AuditAction | None = None
    """What the audit trail says of it."""
    page: bool = False
    """Whether it is for browsers: somebody unknown is sent to sign in."""
    follows: bool = False
    """Whether the reply goes on until a run has ended."""
    status: int = 200
    """The status of a reply to those who may read it."""
    form: bool = False
    """Whether it takes a form of a page, with the token of one that this browser was shown."""


READ, RUN, INGEST, ADMIN = Right.READ, Right.RUN, Right.INGEST, Right.ADMINISTER
MONITOR_FILE = {
    "name": "another",
    "suite_hash": "{suite}",
    "target": "simulator:biased",
    "cadence": "6h",
    "features": [{"extractor": "words", "feature": "words", "high": 10, "tolerance": 0.5}],
    "comparisons": [{"dimension": "concept", "a": "France", "b": "Peru"}],
}
UPLOAD = {
    "name": "tiny",
    "extractors": ["words"],
    "probes": [{"key": "a", "prompt": "Hello?", "groups": {"concept": "Peru"}}],
}
SUBJECT = {
    "outcome": "admission",
    "value": "admitted",
    "groups": ["men", "women"],
    "counts": [30, 70, 20, 80],
    "cases": 200,
    "measures": [],
}
ASKED: dict[tuple[str, str], Asked] = {
    ("GET", "/v1/runs"): Asked(READ),
    ("GET", "/v1/runs/{run_id}"): Asked(READ, names=True),
    ("GET", "/v1/runs/{run_id}/diagnoses"): Asked(READ, names=True),
    ("GET", "/v1/runs/{run_id}/assessments"): Asked(READ, names=True),
    ("GET", "/v1/runs/{run_id}/studies"): Asked(READ, names=True),
    ("GET", "/v1/runs/{run_id}/flagged"): Asked(READ, names=True, texts=True),
    ("GET", "/v1/runs/{run_id}/impact-ratios"): Asked(READ, names=True),
    ("GET", "/v1/runs/{run_id}/events"): Asked(READ, names=True, follows=True),
    ("GET", "/v1/runs/{run_id}/analysis"): Asked(READ, names=True),
    ("GET", "/v1/runs/{run_id}/measurements"): Asked(READ, names=True),
    ("GET", "/v1/runs/{run_id}/provenance"): Asked(READ, names=True),
    ("GET", "/v1/runs/{run_id}/diagnoses/{diagnosis_id}/values"): Asked(READ),
    ("GET", "/v1/runs/{run_id}/responses"): Asked(READ, names=True, texts=True),
    ("GET", "/v1/runs/{run_id}/features"): Asked(READ, names=True),
    ("GET", "/v1/runs/{run_id}/corrections"): Asked(
        READ, path="/v1/runs/{labelled}/corrections", names=True
    ),
    ("GET", "/v1/runs/{run_id}/labels"): Asked(
        READ, path="/v1/runs/{labelled}/labels", names=True, texts=True
    ),
    ("GET", "/v1/runs/{run_id}/labels/plan"): Asked(
        READ, path="/v1/runs/{labelled}/labels/plan?feature=words", names=True
    ),
    ("GET", "/v1/runs/{run_id}/labels/samples"): Asked(
        READ, path="/v1/runs/{labelled}/labels/samples", names=True
    ),
    ("GET", "/v1/runs/{run_id}/labels/samples/{sample_id}/tasks"): Asked(
        READ, path="/v1/runs/{labelled}/labels/samples/{sample_id}/tasks", names=True, texts=True
    ),
    ("POST", "/v1/runs/{run_id}/labels/samples"): Asked(
        RUN,
        path="/v1/runs/{labelled}/labels/samples",
        body={"feature": "words", "low": 0, "high": 10},
        names=True,
        action=AuditAction.LABELS_SAMPLE,
    ),
    ("POST", "/v1/runs/{run_id}/labels"): Asked(
        RUN,
        path="/v1/runs/{labelled}/labels",
        body={
            "extractor": "words",
            "feature": "words",
            "labels": [{"response_id": "{answer}", "value": 1, "note": "{nonce}"}],
        },
        names=True,
    ),
    ("GET", "/v1/monitors/{name}/runs"): Asked(READ, names=True),
    ("GET", "/v1/interpretations/{brief_id}"): Asked(READ, names=True, texts=True),
    ("GET", "/v1/targets/paused"): Asked(READ),
    ("GET", "/v1/monitors"): Asked(READ),
    ("GET", "/v1/monitors/{name}"): Asked(READ, names=True),
    ("GET", "/v1/monitors/{name}/alarms"): Asked(READ, names=True, texts=True),
    ("GET", "/v1/monitors/{name}/history"): Asked(READ, names=True),
    ("GET", "/v1/monitors/{name}/windows"): Asked(
        READ, path=f"/v1/monitors/{TRAFFIC}/windows", names=True
    ),
    ("GET", "/v1/monitors/{name}/strata"): Asked(
        READ, path=f"/v1/monitors/{TRAFFIC}/strata", names=True
    ),
    ("GET", "/v1/unwatched"): Asked(READ),
    ("GET", "/v1/history/{source}"): Asked(READ, names=True),
    ("GET", "/v1/channels"): Asked(READ),
    ("GET", "/v1/status"): Asked(READ),
    ("GET", "/v1/alarms/{alarm_id}/deliveries"): Asked(READ),
    ("GET", "/v1/audit"): Asked(ADMIN),
    ("POST", "/v1/suites"): Asked(RUN, body=UPLOAD),
    ("GET", "/v1/suites/{suite_hash}"): Asked(READ, path="/v1/suites/{suite}", names=True),
    ("POST", "/v1/runs"): Asked(
        RUN,
        body={"suite_hash": "{suite}", "targets": ["simulator:biased"], "nonce": "{nonce}"},
        names=True,
        action=AuditAction.RUN_START,
    ),
    ("POST", "/v1/interpretations"): Asked(
        RUN,
        body={"run_id": "{run}", "subject": SUBJECT, "report": "{nonce}"},
        names=True,
        action=AuditAction.INTERPRETATION_START,
    ),
    ("POST", "/v1/targets/resume"): Asked(
        RUN, body={"target": "{target}"}, names=True, action=AuditAction.TARGET_RESUME
    ),
    ("POST", "/v1/runs/{run_id}/description"): Asked(
        RUN, names=True, body={"name": "before"}, action=AuditAction.RUN_DESCRIBE
    ),
    ("POST", "/v1/runs/{run_id}/cancel"): Asked(RUN, names=True, action=AuditAction.RUN_CANCEL),
    ("POST", "/v1/monitors"): Asked(
        RUN, body=MONITOR_FILE, names=True, action=AuditAction.MONITOR_APPLY
    ),
    ("POST", "/v1/monitors/{name}/pause"): Asked(RUN, names=True, action=AuditAction.MONITOR_PAUSE),
    ("POST", "/v1/monitors/{name}/resume"): Asked(
        RUN, names=True, action=AuditAction.MONITOR_RESUME
    ),
    ("POST", "/v1/channels/{name:path}/test"): Asked(
        RUN, path=f"/v1/channels/{CHANNEL}/test", action=AuditAction.CHANNEL_TEST
    ),
    ("POST", "/v1/channels/{name:path}/retry"): Asked(
        RUN, path=f"/v1/channels/{CHANNEL}/retry", action=AuditAction.CHANNEL_RETRY
    ),
    ("POST", "/v1/history/{source}"): Asked(RUN, names=True, action=AuditAction.HISTORY_BEGIN),
    ("POST", "/v1/history/{source}/read"): Asked(RUN, names=True, action=AuditAction.HISTORY_READ),
    ("POST", "/v1/responses"): Asked(
        INGEST,
        body={"source": "support", "responses": [{"id": "{nonce}", "text": "Hello."}]},
        names=True,
    ),
    ("POST", "/v1/traces"): Asked(INGEST, body={"resourceSpans": []}),
    ("POST", "/v1/logs"): Asked(INGEST, body={"resourceLogs": []}),
    ("POST", "/api/public/otel/v1/traces"): Asked(INGEST, body={"resourceSpans": []}),
    ("GET", "/api/public/projects"): Asked(INGEST),
    ("GET", "/"): Asked(READ, page=True),
    ("GET", "/monitors/{name}"): Asked(READ, page=True, names=True),
    ("GET", "/monitors/{name}/alarms"): Asked(READ, page=True, names=True, texts=True),
    ("GET", "/runs/{run_id}"): Asked(READ, page=True, names=True),
    ("GET", "/runs/{run_id}/answers"): Asked(READ, page=True, names=True, texts=True),
    ("GET", "/runs/{run_id}/answers.csv"): Asked(READ, page=True, names=True, texts=True),
    # Without a set it shows none.
    ("GET", "/runs/{run_id}/board"): Asked(READ, page=True, names=True),
    ("GET", "/runs/{run_id}/board.html"): Asked(READ, page=True, names=True),
    ("GET", "/runs/{run_id}/twins"): Asked(READ, page=True, names=True),
    ("GET", "/runs/{run_id}/label/{sample_id}"): Asked(
        READ, path="/runs/{labelled}/label/{sample_id}", page=True, names=True, texts=True
    ),
    ("GET", "/runs/{run_id}/comparisons.csv"): Asked(READ, page=True, names=True),
    ("GET", "/runs/{run_id}/groups.csv"): Asked(READ, page=True, names=True),
    ("GET", "/monitors/{name}/comparisons.csv"): Asked(READ, page=True, names=True),
    ("GET", "/monitors/{name}/labelled.csv"): Asked(READ, page=True, names=True),
    ("GET", "/monitors/{name}/history.csv"): Asked(READ, page=True, names=True),
    ("GET", "/monitors/{name}/charts.json"): Asked(READ, page=True, names=True),
    ("GET", "/monitors/{name}/strata"): Asked(READ, page=True, names=True),
    ("GET", "/monitors/{name}/strata.csv"): Asked(READ, page=True, names=True),
    ("GET", "/monitors/{name}/events"): Asked(READ, page=True, names=True, follows=True),
    ("GET", "/runs/{run_id}/events"): Asked(READ, page=True, names=True, follows=True),
    ("GET", "/events"): Asked(READ, page=True, follows=True),
    ("GET", "/start"): Asked(READ, page=True),
    ("POST", "/start"): Asked(
        RUN,
        body={"suite": "{suite}", "targets": "simulator:unbiased", "nonce": "{nonce}"},
        page=True,
        names=True,
        form=True,
        action=AuditAction.RUN_START,
    ),
    ("GET", "/compare"): Asked(
        READ, path="/compare?before={run_id}&after={run_id}", page=True, names=True
    ),
    ("GET", "/compare.csv"): Asked(
        READ, path="/compare.csv?before={run_id}&after={run_id}", page=True, names=True
    ),
    ("GET", "/extractors"): Asked(READ, page=True),
    ("GET", "/extractors.csv"): Asked(READ, page=True),
    ("GET", "/traffic"): Asked(READ, page=True),
    ("GET", "/traffic.csv"): Asked(READ, page=True),
    ("GET", "/audit"): Asked(READ, page=True),
    ("POST", "/runs/{run_id}/cancel"): Asked(
        RUN, page=True, names=True, form=True, action=AuditAction.RUN_CANCEL
    ),
    ("GET", "/start/monitor"): Asked(READ, page=True),
    ("GET", "/start/search"): Asked(READ, page=True),
    ("POST", "/start/monitor"): Asked(
        RUN,
        body={
            "name": "third",
            "suite": "{suite}",
            "target": "simulator:biased",
            "cadence": "6h",
            "feature": "words.words",
            "high": "10",
            "tolerance": "0.5",
            "pairs": "concept=France=Peru",
        },
        page=True,
        names=True,
        form=True,
        action=AuditAction.MONITOR_APPLY,
    ),
    ("POST", "/start/search"): Asked(
        RUN,
        body={"space": "everyday-space", "target": "simulator:unfair", "nonce": "{nonce}"},
        page=True,
        form=True,
        action=AuditAction.SEARCH_START,
    ),
    ("POST", "/runs/{run_id}/describe"): Asked(
        RUN, page=True, names=True, form=True, action=AuditAction.RUN_DESCRIBE
    ),
    ("POST", "/monitors/{name}/{verb}"): Asked(
        RUN,
        path="/monitors/{name}/pause",
        page=True,
        names=True,
        form=True,
        action=AuditAction.MONITOR_PAUSE,
    ),
    ("POST", "/monitors/{name}/alarms/{alarm_id}/{step}"): Asked(
        RUN,
        path="/monitors/{name}/alarms/{alarm_id}/acknowledge",
        page=True,
        names=True,
        form=True,
        action=AuditAction.ALARM_ACKNOWLEDGE,
    ),
    ("POST", "/runs/{run_id}/label/{sample_id}"): Asked(
        RUN, path="/runs/{labelled}/label/{sample_id}", page=True, names=True, form=True
    ),
    ("GET", "/v1/searches"): Asked(READ),
    ("GET", "/v1/searches/{search_id}"): Asked(READ, names=True),
    ("GET", "/v1/searches/{search_id}/examples"): Asked(READ, names=True),
    # It has found nothing yet.
    ("GET", "/v1/searches/{search_id}/suite"): Asked(READ, names=True, status=422),
    ("GET", "/searches"): Asked(READ, page=True),
    ("GET", "/searches/{search_id}"): Asked(READ, page=True, names=True),
    ("POST", "/v1/searches"): Asked(
        RUN,
        body={
            "space": small_space().model_dump(mode="json"),
            "target": "simulator:unfair",
            "nonce": "{nonce}",
        },
        action=AuditAction.SEARCH_START,
    ),
    ("POST", "/v1/searches/{search_id}/budget"): Asked(
        RUN, body={"calls": 500}, names=True, action=AuditAction.SEARCH_START
    ),
    ("POST", "/searches/{search_id}/{verb}"): Asked(
        RUN,
        path="/searches/{search_id}/continue",
        page=True,
        names=True,
        form=True,
        action=AuditAction.SEARCH_START,
    ),
    ("POST", "/v1/searches/{search_id}/cancel"): Asked(
        RUN, names=True, action=AuditAction.SEARCH_CANCEL
    ),
    ("GET", "/docs"): Asked(READ, page=True),
    ("GET", "/openapi.json"): Asked(None),
    ("GET", "/login"): Asked(None),
    ("POST", "/login"): Asked(None),
    ("GET", "/v1/sign-in"): Asked(None),
    ("GET", "/login/openid"): Asked(None),
    ("GET", "/login/openid/callback"): Asked(None),
    ("POST", "/logout"): Asked(None),
    ("GET", "/style.css"): Asked(None),
    ("GET", "/static/{name}"): Asked(None, path="/static/monitor-charts.js"),
    # Last, because nothing is left after it:
    ("POST", "/v1/purges"): Asked(ADMIN, body={"unit": "a"}, action=AuditAction.TEXTS_PURGE),
    ("DELETE", "/v1/monitors/{name}"): Asked(RUN, names=True, action=AuditAction.MONITOR_DELETE),
}
UNAUDITED = {
    ("POST", path)
    for path in (
        "/v1/suites",
        "/v1/responses",
        "/v1/traces",
        "/v1/logs",
        "/api/public/otel/v1/traces",
        "/v1/runs/{run_id}/labels",
        "/runs/{run_id}/label/{sample_id}",
        "/login",
        "/logout",
    )
}
"""What only adds: nothing starts, changes or ends by it."""


def token(tenant: str, role: TokenRole, *, texts: bool = False) -> str:
    return f"{tenant}-{role}{'-texts' if texts else ''}"


def tokens_file(folder: Path) -> Path:
    entries = [
        {
            "name": token(tenant, role, texts=texts),
            "role": role.value,
            "tenant": tenant,
            "texts": texts,
            "verifier": verifier_of(token(tenant, role, texts=texts)),
        }
        for tenant in (OURS, OTHERS)
        for role in TokenRole
        for texts in (False, True)
        if not texts or role is not TokenRole.INGEST
    ]
    path = folder / "tokens.yaml"
    path.write_text(yaml.safe_dump({"tokens": entries}))
    return path


@dataclass
class Gateway:
    """A gateway, what our tenant has, and how it is asked."""

    app: FastAPI
    client: httpx2.AsyncClient
    tenant_records: TenantRecords
    store: Store
    bus: ProvisionedBus
    asked: int = 0

    async def ask(self, route: tuple[str, str], name: str | None) -> tuple[int, str]:
        """Ask for a route of our tenant's with a token; return the status and the whole reply."""
        verb, template = route
        request = ASKED[route]
        self.asked += 1
        filled = (
            (request.path or template)
            .replace("{suite}", self.tenant_records.suite.hash)
            .replace("{run_id}", self.tenant_records.run.id)
            .replace("{labelled}", self.tenant_records.labelled.id)
            .replace("{sample_id}", self.tenant_records.label_sample.id)
            .replace("{search_id}", self.tenant_records.search_id)
            .replace("{brief_id}", self.tenant_records.brief.id)
            .replace("{name}", MONITOR)
            .replace("{source}", TRAFFIC)
            .replace("{alarm_id}", self.tenant_records.alarm_id)
            .replace("{diagnosis_id}", self.tenant_records.diagnosis_id)
        )
        headers = {"Authorization": f"Bearer {name}"} if name else {}
        sent: dict[str, Any] = {}
        if request.body:
            sent["json"] = json.loads(self._filled(json.dumps(request.body)))
        if request.form:
            headers["Cookie"] = f"{FORM_COOKIE}=browser"
            values = sent.pop("json", {})
            sent["data"] = {
                FORM_FIELD: form_token("browser", filled, new_form_id()),
                "note": "seen",
                **values,
            }
        async with self.client.stream(verb, filled, headers=headers, **sent) as reply:
            if request.follows and reply.status_code == FOUND:
                return reply.status_code, await anext(reply.aiter_text())
            await reply.aread()
            return reply.status_code, f"{reply.headers} {reply.text}"

    @property
    def answer(self) -> str:
        """Return an answer of the run that is labelled."""
        records = self.store.scoped(lambda: Scope(tenant=OURS)).records
        return records.ids_of_run(Response, self.tenant_records.labelled.id, after="", most=1)[0]

    def _filled(self, body: str) -> str:
        values = {
            "{suite}": self.tenant_records.suite.hash, "{run}": self.tenant_records.run.id,
            "{target}": self.tenant_records.target, "{nonce}": f"{self.asked}",
            "{answer}": self.answer,
        }  # fmt: skip
        for word, value in values.items():
            body = body.replace(word, value)
        return body

    async def on_the_bus(self) -> int:
        """Count our tenant's messages on every stream."""
        subjects = self.bus.admin.subjects
        result = [
            await subjects(route.stream, f"bias.v1.{route.record.kind}.{OURS}.*.*")
            for route in ROUTES
        ]
        return sum(count for item in result for count in item.values())

    def records(self) -> dict[str, int]:
        """Count our tenant's records by kind."""
        records = self.store.scoped(lambda: Scope(tenant=OURS)).records
        return {kind: records.count(record_of(kind)) for kind in RECORDS}


@asynccontextmanager
async def serving(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        yield client


@pytest.fixture
async def gateway(bus: ProvisionedBus, store: Store, tmp_path: Path) -> AsyncIterator[Gateway]:
    settings = GatewaySettings(gateway_tokens_file=tokens_file(tmp_path))
    app = web_app(settings, store, bus.publisher)
    tenant_records = add_tenant(store, OURS)
    async with serving(app) as client:
        yield Gateway(app, client, tenant_records, store, bus)


def routes_of(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Return every operation of an application, of the routers included in it too."""
    for route in routes:
        if hasattr(route, "effective_candidates"):
            yield from routes_of(route.effective_candidates())
        else:
            yield from ((verb, route.path) for verb in route.methods - {"HEAD"})


async def test_every_route_is_tried_with_every_token(gateway: Gateway) -> None:
    result = set(routes_of(gateway.app.routes))
    assert result == set(ASKED), "say in ASKED how the new route is asked for"


async def test_only_roles_with_the_right_get_in(gateway: Gateway) -> None:
    wrong = []
    for route, request in ASKED.items():
        for role in TokenRole:
            status, _ = await gateway.ask(route, token(OURS, role))
            allowed = request.right is None or request.right in RIGHTS[role]
            refused = status == 403
            if refused is allowed or status == 500:
                wrong.append((route, role.value, status))
    assert wrong == []


async def test_nobody_gets_in_without_a_token_that_is_known(gateway: Gateway) -> None:
    wrong = []
    for route, request in ASKED.items():
        for unknown in (None, "wrong", verifier_of(token(OURS, TokenRole.ADMIN))):
            status, text = await gateway.ask(route, unknown)
            expected = REDIRECT if request.page else 401
            if request.right is not None and (status != expected or secret_of(OURS) in text):
                wrong.append((route, unknown, status))
    assert wrong == []


async def test_another_tenant_sees_nothing_and_changes_nothing(gateway: Gateway) -> None:
    before, sent = gateway.records(), await gateway.on_the_bus()
    wrong = []
    for route, request in ASKED.items():
        status, text = await gateway.ask(route, token(OTHERS, TokenRole.ADMIN, texts=True))
        shown = (
            text.replace(gateway.tenant_records.target, "") if route[1].endswith("resume") else text
        )
        if secret_of(OURS) in shown or TEXT in shown or OURS in shown:
            wrong.append((route, status, text))
        if request.names and status != NOT_FOUND:
            wrong.append((route, status, text))
    assert wrong == []
    assert gateway.records() == before
    assert await gateway.on_the_bus() == sent
    [still] = [
        m for m in gateway.store.paused_targets.read() if m.target == gateway.tenant_records.target
    ]
    assert still.refusals == 1
    [refused] = gateway.store.alarm_deliveries.of_alarms([gateway.tenant_records.alarm_id])
    assert refused.state is DeliveryState.REFUSED
    assert not [item for item in gateway.store.audit.all() if item.tenant == OURS]


async def test_texts_are_shown_to_those_who_may_read_them_alone(gateway: Gateway) -> None:
    wrong: list[tuple[object, ...]] = []
    for route, request in ASKED.items():
        if request.right is not READ:
            continue
        for texts in (True, False):
            for role in (TokenRole.READ, TokenRole.ADMIN):
                status, text = await gateway.ask(route, token(OURS, role, texts=texts))
                if status != request.status or (TEXT in text) is not (texts and request.texts):
                    wrong.append((route, role, texts, status, text[:300]))
                if ("biaswatch-texts" in text) is texts and not request.follows:
                    wrong.append((route, role, texts, "the header is wrong"))
    assert wrong == []


async def test_whatever_starts_changes_or_ends_something_is_in_the_audit_trail(
    gateway: Gateway,
) -> None:
    who = token(OURS, TokenRole.ADMIN)
    missing = []
    for route, request in ASKED.items():
        if route[0] == "GET" or route in UNAUDITED:
            continue
        seen = len(list(gateway.store.audit.all()))
        status, text = await gateway.ask(route, who)
        added = [item for item in gateway.store.audit.all() if item.number > seen]
        entries = [(item.action, item.actor, item.tenant, item.failure) for item in added]
        if entries[-1:] != [(request.action, who, OURS, None)] or not added[-1].source:
            missing.append((route, status, text, entries))
    assert missing == []
