"""`biaswatch login`: the device flow at an issuer, a private file, refreshed and ended logins."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.bus import ProvisionedBus
from tests.support.commands import CommandLine
from tests.support.issuer import CLI_CLIENT, LocalIssuer, running_issuer
from tests.support.tenant_records import add_tenant

pytestmark = pytest.mark.parametrize("empty_store_url", ["sqlite"], indirect=True)


@dataclass
class Installation:
    """A gateway with an issuer, and a person's command line."""

    issuer: LocalIssuer
    url: str
    command: CommandLine

    async def __call__(self, *words: str) -> Any:
        """Run a command against the gateway."""
        return await asyncio.to_thread(self.command, "--server", self.url, *words)

    @property
    def file(self) -> Path:
        """The file of logins."""
        return self.command.state / "logins.json"

    def login(self) -> dict[str, str]:
        """Return the login at the gateway, as the file keeps it."""
        logins: dict[str, dict[str, str]] = json.loads(self.file.read_text())
        return logins[self.url]


@pytest.fixture
async def here(bus: ProvisionedBus, store: Store, tmp_path: Path) -> AsyncIterator[Installation]:
    add_tenant(store, "hiring")
    groups = [{"group": "bias-readers", "role": "read", "tenant": "hiring"}]
    (tmp_path / "tokens.yaml").write_text(yaml.safe_dump({"groups": groups}))
    async with running_issuer() as issuer:
        settings = GatewaySettings(
            gateway_tokens_file=tmp_path / "tokens.yaml",
            gateway_oidc_issuer=issuer.address,
            gateway_oidc_cli_client=CLI_CLIENT,
        )
        app = web_app(settings, store, bus.publisher)
        async with web_server(app, "127.0.0.1", 0) as port:
            yield Installation(issuer, f"http://127.0.0.1:{port}", CommandLine(tmp_path / "state"))


async def test_a_login_serves_later_commands_from_a_private_file(here: Installation) -> None:
    refused = await here("monitor", "list")
    assert (refused.returncode, "biaswatch login" in refused.stderr) == (2, True)
    result = await here("login")
    assert (result.returncode, "WDJB-MJHT" in result.stdout) == (0, True), result.stderr
    assert here.file.stat().st_mode & 0o777 == 0o600
    listed = await here("monitor", "list")
    assert (listed.returncode, "coasts" in listed.stdout) == (0, True), listed.stderr


async def test_a_token_that_expires_is_refreshed_and_the_refresh_token_replaced(
    here: Installation,
) -> None:
    here.issuer.lasts_s = 30  # sooner than a command waits with a refresh
    await here("login")
    before = here.login()
    here.issuer.lasts_s = 300
    assert (await here("monitor", "list")).returncode == 0
    after = here.login()
    assert after["token"] != before["token"]
    assert after["refresh_token"] != before["refresh_token"]
    assert here.file.stat().st_mode & 0o777 == 0o600


async def test_a_login_that_the_issuer_ended_asks_to_sign_in_again(here: Installation) -> None:
    here.issuer.lasts_s = 30
    await here("login")
    here.issuer.refresh_tokens.clear()
    result = await here("monitor", "list")
    assert (result.returncode, "The issuer has ended the login." in result.stderr) == (2, True)


async def test_logout_forgets_the_login_and_ends_it_at_the_issuer(here: Installation) -> None:
    await here("login")
    assert len(here.issuer.refresh_tokens) == 1
    result = await here("logout")
    assert (result.stdout, here.issuer.refresh_tokens) == ("Signed out.\n", set())
    assert (await here("monitor", "list")).returncode == 2
    again = await here("logout")
    assert (again.returncode, "There is no login" in again.stderr) == (2, True)


async def test_a_login_is_sent_to_its_own_gateway_only(here: Installation) -> None:
    await here("login")
    received: list[str] = []

    async def other(scope: Any, receive: Any, send: Any) -> None:
        received.append(str(dict(scope["headers"]).get(b"authorization")))
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async with web_server(other, "127.0.0.1", 0) as port:
        server = f"http://127.0.0.1:{port}"
        await asyncio.to_thread(here.command, "--server", server, "monitor", "list")
    assert received == ["None"]


async def test_without_an_issuer_there_is_a_sentence(
    bus: ProvisionedBus, store: Store, tmp_path: Path
) -> None:
    app = web_app(GatewaySettings(), store, bus.publisher)
    async with web_server(app, "127.0.0.1", 0) as port:
        command = CommandLine(tmp_path / "state")
        server = f"http://127.0.0.1:{port}"
        refused = await asyncio.to_thread(command, "--server", server, "login")
    assert (refused.returncode, "offers no sign-in" in refused.stderr) == (2, True)


async def test_an_issuer_that_is_away_is_a_sentence(here: Installation) -> None:
    here.issuer.is_down = True
    away = await here("login")
    assert (away.returncode, "HTTP 503" in away.stderr) == (3, True)
    async with httpx2.AsyncClient() as client:
        view = (await client.get(f"{here.url}/v1/sign-in")).json()
    assert view["client"] == CLI_CLIENT
