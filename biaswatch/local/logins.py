"""Logins at the issuers of gateways: kept in one private file, and refreshed in time."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import httpx2

from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.network.openid import IssuerDocument, expiry_of, issuer_document, issuer_reply
from biaswatch.shared.requests.platform import SignInView
from biaswatch.written_files import atomic_file

FILE_MODE = 0o600
REFRESH_S = 60.0
"""Time before its expiry at which a token is refreshed."""
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
POLL_S, SLOWER_S = 5.0, 5.0
"""Time between two polls of the issuer, and what a request to slow down adds (RFC 8628)."""
DEVICE_S = 600.0
"""Lifetime of a code, if the issuer does not say it."""
AGAIN = "Sign in again with `biaswatch login --server {server}`."


@dataclass(frozen=True)
class Login:
    """A person's tokens for one gateway."""

    issuer: str
    client: str
    token: str
    refresh_token: str | None = None

    @property
    def expires(self) -> float:
        """When the token expires, in seconds of the epoch."""
        return expiry_of(self.token)


class LoginFile:
    """The logins of a person, by the address of the gateway; only they may read the file."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "logins.json"

    def read(self, server: str) -> Login | None:
        """Return the login at a gateway, if there is one."""
        fields = self._fields().get(_key(server))
        return Login(**fields) if fields else None

    def write(self, server: str, login: Login | None) -> None:
        """Replace the login at a gateway, or remove it."""
        fields = {name: value for name, value in self._fields().items() if name != _key(server)}
        if login is not None:
            fields[_key(server)] = asdict(login)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(self._path) as part:
            part.chmod(FILE_MODE)
            part.write_text(json.dumps(fields), encoding="utf-8")

    def _fields(self) -> dict[str, dict[str, str]]:
        try:
            fields = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            fields = None
        if not isinstance(fields, dict):
            raise UsageError(f"{self._path} cannot be read. Remove it, and sign in again.")
        return fields


def _key(server: str) -> str:
    return server.rstrip("/").lower()


class LoginAuth(httpx2.Auth):
    """Adds the token of a login to requests, and refreshes it before it expires."""

    def __init__(self, file: LoginFile, server: str, login: Login) -> None:
        self._file, self._server, self._login = file, server, login
        self._refreshing = asyncio.Lock()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send a request with a valid token."""
        request.headers["Authorization"] = f"Bearer {await self._token()}"
        yield request

    async def _token(self) -> str:
        async with self._refreshing:
            if self._login.expires - time.time() < REFRESH_S:
                # Another command may have refreshed it, and an issuer may accept this only once.
                latest = self._file.read(self._server) or self._login
                if latest.expires - time.time() < REFRESH_S:
                    latest = await refreshed(latest, self._server)
                    self._file.write(self._server, latest)
                self._login = latest
            return self._login.token


async def refreshed(login: Login, server: str) -> Login:
    """Return a login with a new token.

    Raises
    ------
    UsageError
        The issuer ended the login, or it has no refresh token.
    """
    if login.refresh_token is None:
        raise UsageError(f"The login has expired. {AGAIN.format(server=server)}")
    document = await issuer_document(login.issuer)
    form = {
        "grant_type": "refresh_token",
        "refresh_token": login.refresh_token,
        "client_id": login.client,
    }
    status, reply = await issuer_reply("POST", document.token_endpoint, form)
    if status >= httpx2.codes.INTERNAL_SERVER_ERROR:
        raise TransientError(f"The issuer {login.issuer} answers HTTP {status}. Try again later.")
    if "id_token" not in reply:
        raise UsageError(f"The issuer has ended the login. {AGAIN.format(server=server)}")
    rotated = reply.get("refresh_token", login.refresh_token)
    return replace(login, token=str(reply["id_token"]), refresh_token=str(rotated))


@dataclass(frozen=True)
class DeviceCode:
    """A code that a person confirms in a browser, on any device."""

    address: str
    code: str
    device_code: str
    interval_s: float
    lasts_s: float


async def device_code(view: SignInView, document: IssuerDocument) -> DeviceCode:
    """Return a new code of the issuer.

    Raises
    ------
    UsageError
        The issuer offers no device flow, or refuses the client.
    """
    endpoint = document.device_authorization_endpoint
    if endpoint is None:
        raise UsageError(f"The issuer {view.issuer} offers no sign-in for devices. Use a token.")
    form = {"client_id": view.client, "scope": view.scopes}
    _, reply = await issuer_reply("POST", endpoint, form)
    address = reply.get("verification_uri_complete") or reply.get("verification_uri")
    if not address or "device_code" not in reply:
        raise UsageError(f"The issuer refuses the client {view.client}: {_reason(reply)}.")
    return DeviceCode(
        address=str(address),
        code=str(reply.get("user_code", "")),
        device_code=str(reply["device_code"]),
        interval_s=_seconds(reply, "interval", POLL_S),
        lasts_s=_seconds(reply, "expires_in", DEVICE_S),
    )


def _seconds(reply: Mapping[str, object], name: str, default: float) -> float:
    value = reply.get(name, default)
    return float(value) if isinstance(value, int | float) else default


async def confirmed_login(
    view: SignInView,
    document: IssuerDocument,
    device: DeviceCode,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Login:
    """Return the login once its code is confirmed.

    Raises
    ------
    UsageError
        The person refused, the code expired, or the issuer gives no identity token.
    """
    form = {"grant_type": DEVICE_GRANT, "device_code": device.device_code, "client_id": view.client}
    interval_s, deadline = device.interval_s, clock() + device.lasts_s
    while clock() < deadline:
        await sleep(interval_s)
        _, reply = await issuer_reply("POST", document.token_endpoint, form)
        if (token := reply.get("id_token")) is not None:
            kept = reply.get("refresh_token")
            return Login(view.issuer, view.client, str(token), str(kept) if kept else None)
        if (error := reply.get("error")) == "slow_down":
            interval_s += SLOWER_S
        elif error != "authorization_pending":
            raise UsageError(f"The issuer refused the sign-in: {_reason(reply)}.")
    raise UsageError("The code was not confirmed in time. Sign in again.")


async def revoke(login: Login) -> bool:
    """End a login at the issuer; return whether the issuer confirmed it."""
    document = await issuer_document(login.issuer)
    if document.revocation_endpoint is None or login.refresh_token is None:
        return False
    form = {
        "token": login.refresh_token,
        "token_type_hint": "refresh_token",
        "client_id": login.client,
    }
    status, _ = await issuer_reply("POST", document.revocation_endpoint, form)
    return httpx2.codes.is_success(status)


def _reason(reply: Mapping[str, object]) -> str:
    return str(reply.get("error_description") or reply.get("error") or "it gave no reason")
