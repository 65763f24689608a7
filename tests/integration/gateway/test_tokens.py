"""The tokens file over real HTTP: rotated without restart, expired, broken, behind a proxy."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from pydantic import SecretStr

from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import AuditAction, AuditAnchor
from biaswatch.shared.contracts.access import session_of, verifier_of
from biaswatch.shared.contracts.audit import faults_of
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.bus import ProvisionedBus
from tests.support.tenant_records import MONITOR, add_tenant
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.parametrize("empty_store_url", ["sqlite"], indirect=True)
ANNA = {"name": "anna", "role": "run", "tenant": "hiring"}


def bearer(token: str, **headers: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **headers}


class WrittenTokens:
    """The file of tokens, as an operator changes it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, *tokens: tuple[str, dict[str, Any]], **more: Any) -> None:
        """Replace the file."""
        entries = [{**entry, "verifier": verifier_of(token)} for token, entry in tokens]
        self.path.write_text(yaml.safe_dump({"tokens": entries, **more}))


@pytest.fixture
def file(tmp_path: Path) -> WrittenTokens:
    written = WrittenTokens(tmp_path / "tokens.yaml")
    written.write(("old", ANNA))
    return written


@pytest.fixture
async def api(
    bus: ProvisionedBus, store: Store, file: WrittenTokens
) -> AsyncIterator[httpx2.AsyncClient]:
    add_tenant(store, "hiring")
    app = web_app(GatewaySettings(gateway_tokens_file=file.path), store, bus.publisher)
    async with (
        web_server(app, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        yield client


async def status(api: httpx2.AsyncClient, token: str, **headers: str) -> int:
    return (await api.get("/v1/monitors", headers=bearer(token, **headers))).status_code


async def test_a_token_is_rotated_without_a_restart_and_the_change_is_audited(
    api: httpx2.AsyncClient, file: WrittenTokens, store: Store
) -> None:
    assert [await status(api, item) for item in ("old", "new")] == [200, 401]
    file.write(("old", ANNA), ("new", ANNA))
    assert [await status(api, item) for item in ("old", "new")] == [200, 200]
    file.write(("new", ANNA))
    assert [await status(api, item) for item in ("old", "new")] == [401, 200]
    changes = [(item.action.value, item.subject) for item in store.audit.all()]
    old, new = (f"anna ({verifier_of(item)[:8]})" for item in ("old", "new"))
    assert changes == [("token.add", old), ("token.add", new), ("token.remove", old)]


@pytest.mark.parametrize(
    "broken",
    ["tokens: [", "tokens: 3", "tokens: [{name: x}]", "[]", "tokens: [{name: x, role: king}]"],
)
async def test_a_broken_file_leaves_the_tokens_before_it_in_force(
    api: httpx2.AsyncClient, file: WrittenTokens, broken: str
) -> None:
    assert await status(api, "old") == 200
    file.path.write_text(broken)
    assert await status(api, "old") == 200
    file.path.unlink()
    assert await status(api, "old") == 200
    file.write()
    assert await status(api, "old") == 401


def test_a_gateway_does_not_start_on_a_broken_file(store: Store, tmp_path: Path) -> None:
    (tmp_path / "tokens.yaml").write_text("tokens: [{name: x, role: king, verifier: y}]")
    settings = GatewaySettings(gateway_tokens_file=tmp_path / "tokens.yaml")
    nobody: Any = None
    with pytest.raises(ConfigurationError, match=r"tokens.yaml, tokens.*role"):
        web_app(settings, store, nobody)


async def test_an_expired_token_is_refused_and_so_is_its_session(
    api: httpx2.AsyncClient, file: WrittenTokens
) -> None:
    session = {"Cookie": f"biaswatch_session={session_of('old')}"}
    assert (await api.get("/", headers=session)).status_code == 200
    passed = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    file.write(("old", {**ANNA, "expires": passed}))
    assert await status(api, "old") == 401
    assert (await api.get("/", headers=session)).status_code == 303


async def test_what_the_file_holds_lets_nobody_in(
    api: httpx2.AsyncClient, file: WrittenTokens
) -> None:
    for stolen in (verifier_of("old"), file.path.read_text().strip()[:64], session_of("old")):
        assert await status(api, stolen.replace("\n", " ")) == 401
    forged = {"Cookie": f"biaswatch_session={verifier_of('old')}"}
    assert (await api.get("/", headers=forged)).status_code == 303


async def test_a_session_reads_pages_and_changes_nothing(
    api: httpx2.AsyncClient, file: WrittenTokens
) -> None:
    session = {"Cookie": f"biaswatch_session={session_of('old')}"}
    assert (await api.post(f"/v1/monitors/{MONITOR}/pause", headers=session)).status_code == 401
    assert (await api.get("/v1/monitors", headers=session)).status_code == 401


async def test_the_tokens_of_settings_work_beside_the_file(
    bus: ProvisionedBus, store: Store, file: WrittenTokens
) -> None:
    settings = GatewaySettings(
        gateway_tokens_file=file.path, gateway_run_token=SecretStr("the one of before")
    )
    async with (
        web_server(web_app(settings, store, bus.publisher), "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as api,
    ):
        assert [await status(api, item) for item in ("old", "the one of before")] == [200, 200]


async def test_who_paused_the_monitor_is_told_at_three_in_the_morning(
    api: httpx2.AsyncClient, file: WrittenTokens, store: Store, bus: ProvisionedBus
) -> None:
    file.write(("old", ANNA), ("ops", {**ANNA, "name": "ops", "role": "admin"}))
    paused = await api.post(f"/v1/monitors/{MONITOR}/pause", headers=bearer("old"))
    assert paused.status_code == 202
    again = await api.post(f"/v1/monitors/{MONITOR}/pause", headers=bearer("old"))
    assert again.status_code == 202  # it was paused already, so nobody did anything
    request = {"about": MONITOR, "action": "monitor.pause"}
    [entry] = (await api.get("/v1/audit", params=request, headers=bearer("ops"))).json()
    assert (entry["actor"], entry["role"], entry["source"]) == ("anna", "run", "127.0.0.1")
    anchors = [(1, "0" * 64)]
    assert faults_of(store.audit.all(), anchors)
    assert faults_of(store.audit.all(), []) == []
    assert await bus.count(AuditAnchor) == 2  # the tokens of the file together, and the pause


async def test_what_fails_after_it_was_announced_says_so(
    api: httpx2.AsyncClient, store: Store, bus: ProvisionedBus
) -> None:
    await bus.connection.close()
    refused = await api.post(f"/v1/monitors/{MONITOR}/pause", headers=bearer("old"))
    assert refused.status_code >= 500
    announced, failed = [e for e in store.audit.all() if e.action is AuditAction.MONITOR_PAUSE]
    assert announced.failure is None
    assert failed.failure


GROUPS = [
    {"group": "bias-writers", "role": "run", "tenant": "hiring", "texts": True},
    {"group": "bias-readers", "role": "read", "tenant": "hiring"},
]
PROXY = [{"name": "sign-in", "verifier": verifier_of("proxy")}]
PERSON = {"X-Forwarded-Email": "ben@example.org", "X-Forwarded-Groups": "staff,bias-readers"}


async def test_a_proxy_speaks_for_the_people_it_has_signed_in(
    api: httpx2.AsyncClient, file: WrittenTokens, store: Store
) -> None:
    file.write(("old", ANNA), proxies=PROXY, groups=GROUPS)
    assert await status(api, "proxy", **PERSON) == 200
    assert await status(api, "proxy") == 401  # it names nobody
    nobody = {**PERSON, "X-Forwarded-Groups": "staff"}
    refused = await api.get("/v1/monitors", headers=bearer("proxy", **nobody))
    assert (refused.status_code, "ben@example.org may do" in refused.text) == (403, True)
    pause = f"/v1/monitors/{MONITOR}/pause"
    assert (await api.post(pause, headers=bearer("proxy", **PERSON))).status_code == 403
    writer = {**PERSON, "X-Forwarded-Groups": "bias-writers", "X-Forwarded-For": "9.9.9.9, 8.8.8.8"}
    assert (await api.get("/", headers=bearer("proxy", **writer))).status_code == 200
    assert (await api.post(pause, headers=bearer("proxy", **writer))).status_code == 202
    last = store.audit.latest(1)[0]
    assert (last.actor, last.source) == ("ben@example.org", "8.8.8.8 by 127.0.0.1")


@pytest.mark.parametrize("token", ["", "old"])
async def test_nobody_else_can_speak_for_people(
    api: httpx2.AsyncClient, file: WrittenTokens, token: str
) -> None:
    file.write(("old", {**ANNA, "role": "read"}), proxies=PROXY, groups=GROUPS)
    claimed = {**PERSON, "X-Forwarded-Groups": "bias-writers"}
    headers = bearer(token, **claimed) if token else claimed
    paused = await api.post(f"/v1/monitors/{MONITOR}/pause", headers=headers)
    assert paused.status_code == (403 if token else 401)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 202),
        ({}, 202),
    ],
)
async def test_a_page_of_another_site_cannot_use_what_the_proxy_signs_in(
    api: httpx2.AsyncClient, file: WrittenTokens, headers: dict[str, str], expected: int
) -> None:
    file.write(proxies=PROXY, groups=GROUPS)
    person = {**PERSON, "X-Forwarded-Groups": "bias-writers", **headers}
    paused = await api.post(f"/v1/monitors/{MONITOR}/pause", headers=bearer("proxy", **person))
    assert paused.status_code == expected
