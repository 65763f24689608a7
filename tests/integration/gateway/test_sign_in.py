"""Sign-in at an OpenID Connect issuer: for the API, for pages, and 400 requests that must fail."""

import hmac
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import yaml
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from joserfc.jws import JWSRegistry
from pydantic import SecretStr

from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.sign_in import issuer as issuers
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.bus import ProvisionedBus
from tests.support.issuer import (
    CLI_CLIENT,
    PAGES_CLIENT,
    PAGES_SECRET,
    LocalIssuer,
    encoded_part,
    running_issuer,
    tampered,
)
from tests.support.tenant_records import MONITOR, add_tenant
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.parametrize("empty_store_url", ["sqlite"], indirect=True)
GROUPS = [
    {"group": "bias-writers", "role": "run", "tenant": "hiring"},
    {"group": "bias-readers", "role": "read", "tenant": "hiring"},
    {"group": "loan-admins", "role": "admin", "tenant": "loans"},
]
FORGED_TOKENS = 200
"""Each is sent as a header and as a cookie: 400 requests to the API, and 400 to pages."""


@pytest.fixture
def pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the keys again at every unknown one."""
    monkeypatch.setattr(issuers, "PAUSE_S", 0.0)


@pytest.fixture
async def issuer() -> AsyncIterator[LocalIssuer]:
    async with running_issuer() as running:
        yield running


@pytest.fixture
def tokens_file(tmp_path: Path) -> Path:
    path = tmp_path / "tokens.yaml"
    write_groups(path, GROUPS)
    return path


def write_groups(path: Path, groups: list[dict[str, str]]) -> None:
    path.write_text(yaml.safe_dump({"groups": groups}))


@pytest.fixture
async def api(
    bus: ProvisionedBus, store: Store, issuer: LocalIssuer, tokens_file: Path
) -> AsyncIterator[httpx2.AsyncClient]:
    for tenant in ("hiring", "loans"):
        add_tenant(store, tenant)
    settings = GatewaySettings(
        gateway_tokens_file=tokens_file,
        gateway_oidc_issuer=issuer.address,
        gateway_oidc_client=PAGES_CLIENT,
        gateway_oidc_secret=SecretStr(PAGES_SECRET),
        gateway_oidc_cli_client=CLI_CLIENT,
    )
    async with (
        web_server(web_app(settings, store, bus.publisher), "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
    ):
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def status(api: httpx2.AsyncClient, token: str) -> int:
    return (await api.get("/v1/monitors", headers=bearer(token))).status_code


async def test_a_group_of_the_issuer_gives_its_role_and_tenant(
    api: httpx2.AsyncClient, issuer: LocalIssuer, store: Store
) -> None:
    assert await status(api, issuer.token()) == 200
    pause_it = f"/v1/monitors/{MONITOR}/pause"
    refused = await api.post(pause_it, headers=bearer(issuer.token()))
    assert (refused.status_code, "ben@example.org has the role read" in refused.text) == (403, True)
    writer = bearer(issuer.token(groups=["bias-writers"]))
    assert (await api.post(pause_it, headers=writer)).status_code == 202
    last = store.audit.latest(1)[0]
    assert (last.actor, last.tenant) == ("ben@example.org", "hiring")
    assert last.source == "127.0.0.1 by 127.0.0.1"


async def test_an_unverified_address_names_nobody(
    api: httpx2.AsyncClient, issuer: LocalIssuer, store: Store
) -> None:
    token = issuer.token(groups=["bias-writers"], email="boss@example.org", email_verified=False)
    await api.post(f"/v1/monitors/{MONITOR}/pause", headers=bearer(token))
    assert store.audit.latest(1)[0].actor == "u-1"


async def test_a_removed_group_ends_the_access_at_both_ends(
    api: httpx2.AsyncClient, issuer: LocalIssuer, tokens_file: Path
) -> None:
    token = issuer.token()
    assert await status(api, token) == 200
    issuer.person["groups"] = ["staff"]
    refused = await api.get("/v1/monitors", headers=bearer(issuer.token()))
    assert (refused.status_code, "no group of theirs" in refused.text) == (403, True)
    write_groups(tokens_file, GROUPS[:1])
    assert await status(api, token) == 403


@pytest.mark.usefixtures("pause")
async def test_rotated_keys_are_read_and_withdrawn_ones_refused(
    api: httpx2.AsyncClient, issuer: LocalIssuer
) -> None:
    old = issuer.token()
    assert await status(api, old) == 200
    issuer.rotate(keep=True)
    assert [await status(api, old), await status(api, issuer.token())] == [200, 200]
    issuer.rotate()
    assert [await status(api, issuer.token()), await status(api, old)] == [200, 401]


async def test_unknown_keys_do_not_make_the_gateway_flood_the_issuer(
    api: httpx2.AsyncClient, issuer: LocalIssuer
) -> None:
    assert await status(api, issuer.token()) == 200
    for number in range(20):
        assert await status(api, issuer.signed(issuer.claims(CLI_CLIENT), kid=f"k{number}")) == 401
    assert issuer.jwks_reads == 1


@pytest.mark.usefixtures("pause")
async def test_while_the_issuer_is_away_known_keys_work_and_others_get_a_sentence(
    api: httpx2.AsyncClient, issuer: LocalIssuer
) -> None:
    assert await status(api, issuer.token()) == 200
    issuer.is_down = True
    assert await status(api, issuer.token()) == 200
    issuer.rotate()
    away = await api.get("/v1/monitors", headers=bearer(issuer.token()))
    assert (away.status_code, "answers HTTP 503" in away.text) == (503, True)
    issuer.is_down = False
    assert await status(api, issuer.token()) == 200


async def test_a_gateway_starts_before_its_issuer(
    api: httpx2.AsyncClient, issuer: LocalIssuer
) -> None:
    issuer.is_down = True
    away = await api.get("/v1/monitors", headers=bearer(issuer.token()))
    assert (away.status_code, away.headers["retry-after"]) == (503, "10")
    assert (await api.get("/login")).status_code == 200


@pytest.mark.parametrize(("age_s", "expected"), [(-30, 200), (30, 200), (90, 401)])
async def test_clocks_may_differ_by_a_minute(
    api: httpx2.AsyncClient, issuer: LocalIssuer, age_s: int, expected: int
) -> None:
    expired = await api.get(
        "/v1/monitors", headers=bearer(issuer.token(exp=int(time.time()) - age_s))
    )
    assert expired.status_code == expected
    assert ("has expired" in expired.text) == (expected == 401)


def forgeries(issuer: LocalIssuer) -> Iterator[str]:
    """Yield tokens that must be refused, each made in another way."""
    public, now = issuer.keys[0], int(time.time())
    claims = issuer.claims(CLI_CLIENT, groups=["loan-admins"])
    pem, jwk = public.as_pem(private=False), public.as_dict(private=False)
    stranger = RSAKey.generate_key(2048, {"kid": str(public.kid)})
    good = issuer.token()
    head, payload, signature = good.split(".")
    none = encoded_part({"alg": "none"})
    changes: list[dict[str, Any]] = [
        {"exp": now - 3600}, {"exp": None}, {"exp": "never"}, {"nbf": now + 3600},
        {"iat": now + 3600}, {"iss": "https://evil.example"}, {"iss": f"{issuer.address}/"},
        {"iss": None}, {"aud": "another"}, {"aud": []}, {"aud": None}, {"aud": ["a", "b"]},
        {"sub": None}, {"sub": ""}, {"events": {"logout": {}}},
    ]  # fmt: skip
    ways: list[Callable[[], str]] = [
        *(lambda change=change: issuer.token(**change) for change in changes),
        lambda: tampered(good, groups=["loan-admins"]),
        lambda: tampered(good, exp=now + 10**6),
        lambda: f"{head}.{payload}.{signature[:-4]}AAAA",
        lambda: f"{head}.{payload}.",
        lambda: f"{none}.{encoded_part(claims)}.",
        lambda: f"{none}.{encoded_part(claims)}.{signature}",
        lambda: jwt.encode({"alg": "RS256", "kid": public.kid}, claims, stranger),
        lambda: jwt.encode({"alg": "RS256", "kid": public.kid, "jwk": jwk}, claims, stranger),
        lambda: by_hmac({"alg": "HS256", "kid": public.kid}, claims, pem),
        lambda: by_hmac({"alg": "HS256", "kid": "hmac"}, claims, b"secret"),
        lambda: by_hmac({"alg": "HS256"}, claims, PAGES_SECRET.encode()),
        lambda: issuer.signed(claims, typ="logout+jwt"),
        lambda: issuer.signed(claims, kid="unknown"),
        lambda: by_rsa({"alg": "RS256", "kid": public.kid, "crit": ["x"], "x": 1}, claims, public),
        lambda: by_rsa({"alg": "RS256", "kid": public.kid, "crit": 1}, claims, public),
        lambda: by_hmac({"alg": "HS256", "crit": [[]]}, claims, b"secret"),
        lambda: f"{good}.more",
        lambda: good.replace(".", "", 1),
        lambda: "..",
    ]  # fmt: skip
    for way in islice(cycle(ways), FORGED_TOKENS):
        yield way()


def by_rsa(header: dict[str, Any], claims: dict[str, Any], key: RSAKey) -> str:
    """Return a token with a header that no library writes."""
    signed = f"{encoded_part(header)}.{encoded_part(claims)}"
    signature = JWSRegistry.algorithms["RS256"].sign(signed.encode(), key)
    return f"{signed}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def by_hmac(header: dict[str, Any], claims: dict[str, Any], key: bytes) -> str:
    """Return a token whose key is a text that everybody knows."""
    signed = f"{encoded_part(header)}.{encoded_part(claims)}"
    digest = hmac.new(key, signed.encode(), "sha256").digest()
    return f"{signed}.{urlsafe_b64encode(digest).rstrip(b'=').decode()}"


async def test_no_forged_token_is_allowed_by_header_or_cookie(
    api: httpx2.AsyncClient, issuer: LocalIssuer
) -> None:
    assert await status(api, issuer.token()) == 200
    allowed, asked = [], 0
    for token in forgeries(issuer):
        for headers in (bearer(token), {"Cookie": f"biaswatch_session={token}"}):
            asked += 1
            reply = await api.get("/v1/monitors", headers=headers)
            page = await api.get("/", headers=headers)
            if reply.status_code not in {401, 403} or page.status_code not in {303, 401, 403}:
                allowed.append(token)
    assert (asked, allowed) == (2 * FORGED_TOKENS, [])


async def test_a_token_shows_only_its_own_tenant(
    api: httpx2.AsyncClient, issuer: LocalIssuer, store: Store
) -> None:
    hiring, loans = issuer.token(), issuer.token(groups=["loan-admins"])
    runs = {
        token: {run["run_id"] for run in (await api.get("/v1/runs", headers=bearer(token))).json()}
        for token in (hiring, loans)
    }
    assert runs[hiring]
    assert not runs[hiring] & runs[loans]
    for run in runs[loans]:
        assert (await api.get(f"/v1/runs/{run}", headers=bearer(hiring))).status_code == 404


async def signed_in(api: httpx2.AsyncClient, page: str = "/audit") -> httpx2.Response:
    """Follow the redirects of a browser through the issuer; return the last one."""
    begun = await api.get("/login/openid", params={"next": page})
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as browser:
        authorized = await browser.get(begun.headers["location"])
    return await api.get(authorized.headers["location"])


async def test_pages_are_signed_in_by_code_with_a_proof_and_a_guarded_cookie(
    api: httpx2.AsyncClient, issuer: LocalIssuer
) -> None:
    assert "Sign in with 127.0.0.1" in (await api.get("/login")).text
    begun = await api.get("/login/openid", headers={"X-Forwarded-Proto": "https"})
    asked = parse_qs(urlsplit(begun.headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"][0].startswith("https://")
    assert {"HttpOnly", "Secure", "SameSite=lax"} <= set(begun.headers["set-cookie"].split("; "))
    api.cookies.clear()
    done = await signed_in(api)
    assert (done.status_code, done.headers["location"]) == (303, "/audit")
    assert (await api.get("/")).status_code == 200
    session = {"Cookie": f"biaswatch_session={api.cookies['biaswatch_session']}"}
    assert (await api.get("/v1/monitors", headers=session)).status_code == 401
    assert (
        await api.get("/v1/monitors", headers=bearer(session["Cookie"][18:]))
    ).status_code == 401
    await api.post("/logout")
    assert (await api.get("/")).status_code == 303


async def test_a_session_ends_with_the_role_of_its_group(
    api: httpx2.AsyncClient, tokens_file: Path
) -> None:
    await signed_in(api)
    assert (await api.get("/")).status_code == 200
    write_groups(tokens_file, GROUPS[:1])
    assert (await api.get("/")).status_code == 403


async def test_a_person_without_a_role_gets_no_session(
    api: httpx2.AsyncClient, issuer: LocalIssuer
) -> None:
    issuer.person["groups"] = ["staff"]
    refused = await signed_in(api)
    assert (refused.status_code, "biaswatch_session" in api.cookies) == (403, False)
    assert "no group of theirs" in refused.text


async def test_a_callback_of_another_browser_is_refused(
    api: httpx2.AsyncClient, issuer: LocalIssuer
) -> None:
    begun = await api.get("/login/openid")
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as attacker:
        callback = (await attacker.get(begun.headers["location"])).headers["location"]
    api.cookies.clear()
    assert (await api.get(callback)).status_code == 403
    await api.get("/login/openid")  # the victim's own, with another state
    assert (await api.get(callback)).status_code == 403


async def test_a_token_of_another_sign_in_is_refused(
    api: httpx2.AsyncClient, issuer: LocalIssuer
) -> None:
    begun = await api.get("/login/openid")
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as browser:
        callback = (await browser.get(begun.headers["location"])).headers["location"]
    for code in issuer.codes.values():
        code["nonce"] = "of another sign-in"
    assert (await api.get(callback)).status_code == 403


@pytest.mark.parametrize("page", ["https://evil.example", "//evil.example", "/\\evil.example"])
async def test_a_sign_in_ends_on_a_page_of_the_gateway(api: httpx2.AsyncClient, page: str) -> None:
    assert (await signed_in(api, page)).headers["location"] == "/"


async def test_an_issuer_needs_an_audience(store: Store) -> None:
    settings = GatewaySettings(gateway_oidc_issuer="https://issuer.example")
    nobody: Any = None
    with pytest.raises(ConfigurationError, match="BIASWATCH_GATEWAY_OIDC_CLI_CLIENT"):
        web_app(settings, store, nobody)


async def test_a_cookie_needs_the_secret_of_the_client(
    api: httpx2.AsyncClient, issuer: LocalIssuer
) -> None:
    claims = {
        "aud": "session", "exp": int(time.time()) + 60, "issuer": issuer.address, "name": "x",
        "groups": ["loan-admins"], "via": "",
    }  # fmt: skip
    forged = jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(PAGES_SECRET))
    reply = await api.get("/", headers={"Cookie": f"biaswatch_session={forged}"})
    assert reply.status_code == 303
