"""People sign in at a certified OpenID provider, a process that we did not write."""

import asyncio
import json
import re
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest
import yaml
from pydantic import SecretStr

from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.sign_in import issuer as issuers
from biaswatch.services.gateway.sign_in import tokens
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.bus import ProvisionedBus
from tests.support.commands import CommandLine
from tests.support.issuer import tampered
from tests.support.tenant_records import MONITOR, add_tenant
from tests.support.waiting import PATIENCE_S, eventually

FOLDER = Path(__file__).parents[2] / ".venv-issuer"
pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not FOLDER.exists(), reason="no peers: make test-peers installs them"),
    pytest.mark.parametrize("empty_store_url", ["sqlite"], indirect=True),
]
GROUPS = [
    {"group": "bias-writers", "role": "run", "tenant": "hiring"},
    {"group": "bias-readers", "role": "read", "tenant": "hiring"},
]


def write_groups(path: Path, groups: list[dict[str, str]]) -> None:
    path.write_text(yaml.safe_dump({"groups": groups}))


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Provider:
    """The process of the provider."""

    def __init__(self, callback: str) -> None:
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [shutil.which("node") or "node", "provider.mjs", str(port), callback],
            cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._until("ready")

    def change(self, *words: str) -> None:
        """Change keys, people's groups or the lifetime of tokens."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(words) + "\n")
        self._process.stdin.flush()
        self._until("done")

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _until(self, word: str) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip() == word:
                return
        raise AssertionError("the provider has ended")


class Browser:
    """A person who fills in the forms of the provider."""

    def __init__(self, provider: str, person: str) -> None:
        self._provider, self._person = provider, person

    async def follow(self, address: str) -> str:
        """Open an address; return where the provider sends the person in the end."""
        async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
            page = await client.get(address)
            while True:
                if page.is_redirect:
                    address = urljoin(str(page.url), page.headers["location"])
                    if not address.startswith(self._provider):
                        return address
                    page = await client.get(address)
                elif action := re.search(r'<form[^>]* action="([^"]+)"', page.text):
                    page = await client.post(action[1], data=self._fields(page.text))
                else:
                    assert page.status_code == 200, page.text
                    return address

    def _fields(self, page: str) -> dict[str, str]:
        inputs: list[dict[str, str]] = [
            dict(re.findall(r'(\w+)="([^"]*)"', tag)) for tag in re.findall("<input[^>]*>", page)
        ]
        written = {"login": self._person, "password": "of a test"}
        return {
            field["name"]: written.get(field["name"], field.get("value", "")) for field in inputs
        }


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def provider(port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setattr(issuers, "PAUSE_S", 0.0)
    running = Provider(f"http://127.0.0.1:{port}/login/openid/callback")
    yield running
    running.stop()


@pytest.fixture
def tokens_file(tmp_path: Path) -> Path:
    path = tmp_path / "tokens.yaml"
    write_groups(path, GROUPS)
    return path


@pytest.fixture
async def api(
    bus: ProvisionedBus, store: Store, provider: Provider, port: int, tokens_file: Path
) -> AsyncIterator[httpx2.AsyncClient]:
    add_tenant(store, "hiring")
    settings = GatewaySettings(
        gateway_tokens_file=tokens_file,
        gateway_oidc_issuer=provider.address,
        gateway_oidc_client="biaswatch",
        gateway_oidc_secret=SecretStr("of the pages"),
        gateway_oidc_cli_client="biaswatch-cli",
    )
    async with (
        web_server(web_app(settings, store, bus.publisher), "127.0.0.1", port),
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        yield client


async def asked(provider: Provider, path: str, **form: str) -> dict[str, str]:
    """Send a form to the provider; return its reply."""
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
        reply = await client.post(provider.address + path, data=form)
    return dict(reply.json())


async def granted(provider: Provider, person: str, client: str = "biaswatch-cli") -> dict[str, str]:
    """Return the tokens of the device flow, and its code, which cannot be used again."""
    code = await asked(provider, "/device/auth", client_id=client, scope="openid profile email")
    await Browser(provider.address, person).follow(code["verification_uri_complete"])
    form = {
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
        "device_code": code["device_code"],
        "client_id": client,
    }
    reply = await asked(provider, "/token", **form)
    assert (await asked(provider, "/token", **form))["error"] == "invalid_grant"
    return {**reply, "device_code": code["device_code"]}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def status(api: httpx2.AsyncClient, token: str) -> int:
    return (await api.get("/v1/monitors", headers=bearer(token))).status_code


async def test_groups_give_rights_until_they_are_removed_at_either_end(
    api: httpx2.AsyncClient, provider: Provider, store: Store, tokens_file: Path
) -> None:
    pause = f"/v1/monitors/{MONITOR}/pause"
    anna, ben = [(await granted(provider, name))["id_token"] for name in ("anna", "ben")]
    assert [await status(api, anna), await status(api, ben)] == [200, 200]
    assert (await api.post(pause, headers=bearer(ben))).status_code == 403
    assert (await api.post(pause, headers=bearer(anna))).status_code == 202
    assert store.audit.latest(1)[0].actor == "anna@example.org"
    provider.change("groups", "anna", "staff")
    assert await status(api, (await granted(provider, "anna"))["id_token"]) == 403
    write_groups(tokens_file, GROUPS[1:])
    assert [await status(api, anna), await status(api, ben)] == [403, 200]


async def test_keys_rotate_and_tokens_expire(
    api: httpx2.AsyncClient, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = (await granted(provider, "ben"))["id_token"]
    provider.change("rotate")
    new = (await granted(provider, "ben"))["id_token"]
    assert [await status(api, old), await status(api, new)] == [200, 200]
    provider.change("withdraw")
    newest = (await granted(provider, "ben"))["id_token"]
    assert [await status(api, newest), await status(api, old)] == [200, 401]
    monkeypatch.setattr(tokens, "LEEWAY_S", 0)
    provider.change("lifetime", "1")
    short = (await granted(provider, "ben"))["id_token"]

    async def expired() -> bool:
        refused = await api.get("/v1/monitors", headers=bearer(short))
        return refused.status_code == 401 and "has expired" in refused.text

    await eventually(expired)


async def test_no_request_without_a_right_is_allowed(
    api: httpx2.AsyncClient, provider: Provider
) -> None:
    of_another = await granted(provider, "anna", "another")
    withdrawn = (await granted(provider, "anna"))["id_token"]
    provider.change("withdraw")
    stranger = await granted(provider, "nobody")
    valid = await granted(provider, "ben")
    head, payload, signature = valid["id_token"].split(".")
    forged = [
        withdrawn, stranger["id_token"], *of_another.values(), valid["access_token"],
        valid["refresh_token"], valid["device_code"], f"{head}.{payload}.", f"{head}..{signature}",
        tampered(valid["id_token"], groups=["bias-writers"]), tampered(valid["id_token"], sub="x"),
        tampered(valid["id_token"], exp=10**10), tampered(valid["id_token"], aud="another"),
        f"{of_another['id_token'].rpartition('.')[0]}.{signature}",
    ]  # fmt: skip
    allowed = []
    for token in islice(cycle(forged), 200):
        for headers in (bearer(token), {"Cookie": f"biaswatch_session={token}"}):
            reply = await api.get("/v1/monitors", headers=headers)
            page = await api.get("/", headers=headers)
            if reply.status_code < 400 or page.status_code == 200:
                allowed.append(token)
    assert allowed == []
    assert await status(api, valid["id_token"]) == 200


async def test_pages_take_a_code_once_and_sessions_end_with_the_group(
    api: httpx2.AsyncClient, provider: Provider, tokens_file: Path
) -> None:
    begun = await api.get("/login/openid", params={"next": "/audit"})
    begins = {"Cookie": f"biaswatch_sign_in={api.cookies['biaswatch_sign_in']}"}
    callback = await Browser(provider.address, "ben").follow(begun.headers["location"])
    done = await api.get(callback)
    assert (done.status_code, done.headers["location"]) == (303, "/audit")
    assert (await api.get("/")).status_code == 200
    async with httpx2.AsyncClient(base_url=api.base_url, timeout=PATIENCE_S) as thief:
        assert (await thief.get(callback)).status_code == 403
        replayed = await thief.get(callback, headers=begins)
        assert (replayed.status_code, "invalid_grant" in replayed.text) == (503, True)
        assert "biaswatch_session" not in thief.cookies
    write_groups(tokens_file, GROUPS[:1])
    assert (await api.get("/")).status_code == 403


async def test_the_command_line_signs_in_refreshes_and_signs_out(
    api: httpx2.AsyncClient, provider: Provider, tmp_path: Path
) -> None:
    command, server = CommandLine(tmp_path / "state"), str(api.base_url).rstrip("/")
    provider.change("lifetime", "30")  # sooner than a command waits with a refresh
    running = command.start("--server", server, "login")
    await eventually(lambda: "confirm the code" in running.printed())
    [address] = re.findall(r"Open (\S+)", running.printed())
    await Browser(provider.address, "ben").follow(address)
    _, complaint = await asyncio.to_thread(running.communicate)
    assert running.returncode == 0, complaint

    def login() -> Mapping[str, str]:
        logins: dict[str, dict[str, str]] = json.loads((command.state / "logins.json").read_text())
        return logins[server]

    async def listed() -> tuple[int, str]:
        done = await asyncio.to_thread(command, "--server", server, "monitor", "list")
        return done.returncode, done.stdout + done.stderr

    first = login()
    provider.change("lifetime", "3600")
    assert (await listed())[0] == 0
    assert login()["token"] != first["token"]
    form = {"grant_type": "refresh_token", "client_id": "biaswatch-cli"}
    last = login()["refresh_token"]
    done = await asyncio.to_thread(command, "--server", server, "logout")
    assert done.stdout == "Signed out.\n"
    ended = await asked(provider, "/token", **form, refresh_token=last)
    assert ended["error"] == "invalid_grant"
    assert (await listed())[0] == 2
