"""An OpenID Connect issuer on a port: code flow with PKCE, device flow, refresh, rotating keys."""

import json
import time
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs, urlencode

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from joserfc import jwt
from joserfc.jwk import RSAKey

from biaswatch.shared.runtime.web import web_server

CLI_CLIENT, PAGES_CLIENT, PAGES_SECRET = "biaswatch-cli", "biaswatch", "a secret of the pages"


class LocalIssuer:
    """The issuer's keys, its one person, and what it has handed out."""

    def __init__(self) -> None:
        self.address = ""
        self.keys: list[RSAKey] = []
        self.person: dict[str, Any] = {
            "sub": "u-1",
            "email": "ben@example.org",
            "email_verified": True,
            "groups": ["staff", "bias-readers"],
        }
        self.lasts_s = 300
        self.jwks_reads = 0
        self.is_down = False
        self.waits_for_person = 1
        """Polls of the device flow before the person confirms."""
        self.codes: dict[str, dict[str, str]] = {}
        self.refresh_tokens: set[str] = set()
        self.rotate()

    def rotate(self, *, keep: bool = False) -> None:
        """Sign with a new key; the keys before it are withdrawn unless they are kept."""
        new = RSAKey.generate_key(2048, {"kid": token_urlsafe(8)})
        self.keys = [new, *(self.keys if keep else [])]

    def claims(self, audience: str, **changed: Any) -> dict[str, Any]:
        """Return the claims of a valid token, with changes; None leaves a claim out."""
        now = int(time.time())
        claims = {
            "iss": self.address, "aud": audience, "iat": now, "exp": now + self.lasts_s,
            **self.person, **changed,
        }  # fmt: skip
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, audience: str = CLI_CLIENT, **changed: Any) -> str:
        """Return a signed token."""
        return self.signed(self.claims(audience, **changed))

    def signed(self, claims: dict[str, Any], **header: Any) -> str:
        """Return claims, signed by the current key."""
        key = self.keys[0]
        return jwt.encode({"alg": "RS256", "kid": key.kid, **header}, claims, key)

    def granted(self, audience: str, **claims: Any) -> dict[str, Any]:
        """Return the reply of the token endpoint, with a refresh token that is valid once."""
        refresh = token_urlsafe(16)
        self.refresh_tokens.add(refresh)
        return {
            "id_token": self.token(audience, **claims),
            "access_token": token_urlsafe(16),
            "token_type": "Bearer",
            "expires_in": self.lasts_s,
            "refresh_token": refresh,
        }

    def reply(self, form: dict[str, str], authorization: str) -> dict[str, Any]:
        """Return the reply of the token endpoint to a form."""
        match form["grant_type"]:
            case "authorization_code":
                asked = self.codes.pop(form["code"], None)
                if asked is None or authorization != basic() or not proves(asked, form):
                    return {"error": "invalid_grant"}
                return self.granted(PAGES_CLIENT, nonce=asked["nonce"])
            case "refresh_token":
                if form["refresh_token"] not in self.refresh_tokens:
                    return {"error": "invalid_grant"}
                self.refresh_tokens.discard(form["refresh_token"])
                return self.granted(form["client_id"])
            case _:
                if form["device_code"] not in self.codes:
                    return {"error": "expired_token"}
                self.waits_for_person -= 1
                waits = self.waits_for_person >= 0
                return {"error": "authorization_pending"} if waits else self.granted(CLI_CLIENT)


def issuer_app(issuer: LocalIssuer) -> FastAPI:
    """Return the issuer's endpoints."""
    app = FastAPI()
    add_forms(app, issuer)

    @app.middleware("http")
    async def refuse_while_down(request: Request, call_next: Any) -> Response:
        return Response("down", 503) if issuer.is_down else await call_next(request)

    @app.get("/.well-known/openid-configuration")
    async def document() -> dict[str, Any]:
        at = issuer.address
        return {
            "issuer": at,
            "jwks_uri": f"{at}/jwks",
            "authorization_endpoint": f"{at}/authorize",
            "token_endpoint": f"{at}/token",
            "device_authorization_endpoint": f"{at}/device",
            "revocation_endpoint": f"{at}/revoke",
        }

    @app.get("/jwks")
    async def jwks() -> dict[str, Any]:
        issuer.jwks_reads += 1
        other = {"kty": "oct", "kid": "hmac", "k": "c2VjcmV0"}
        return {"keys": [*(key.as_dict(private=False) for key in issuer.keys), other]}

    @app.get("/authorize")
    async def authorize(request: Request) -> RedirectResponse:
        query = dict(request.query_params)
        code = token_urlsafe(8)
        issuer.codes[code] = query
        answer = urlencode({"code": code, "state": query["state"]})
        return RedirectResponse(f"{query['redirect_uri']}?{answer}", 302)

    return app


def add_forms(app: FastAPI, issuer: LocalIssuer) -> None:
    """Add the endpoints that take forms."""

    @app.post("/device")
    async def device(request: Request) -> dict[str, Any]:
        code = token_urlsafe(8)
        issuer.codes[code] = await form_of(request)
        return {
            "device_code": code,
            "user_code": "WDJB-MJHT",
            "verification_uri": f"{issuer.address}/confirm",
            "expires_in": 60,
            "interval": 0,
        }

    @app.post("/revoke")
    async def revoke(request: Request) -> dict[str, Any]:
        issuer.refresh_tokens.discard((await form_of(request))["token"])
        return {}

    @app.post("/token")
    async def token(request: Request) -> JSONResponse:
        form = await form_of(request)
        reply = issuer.reply(form, request.headers.get("authorization", ""))
        return JSONResponse(reply, 400 if "error" in reply else 200)


def basic() -> str:
    """Return the credentials of the client of the pages, each part encoded as in a form."""
    password = urlencode({"": PAGES_SECRET})[1:]
    return "Basic " + b64encode(f"{PAGES_CLIENT}:{password}".encode()).decode()


def proves(asked: dict[str, str], form: dict[str, str]) -> bool:
    """Return whether a verifier is that of the challenge (RFC 7636)."""
    digest = sha256(form["code_verifier"].encode()).digest()
    challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()
    return (asked["code_challenge"], asked["redirect_uri"]) == (challenge, form["redirect_uri"])


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form."""
    return {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}


def tampered(token: str, **claims: Any) -> str:
    """Return a token with changed claims and the old signature."""
    head, payload, signature = token.split(".")
    decoded = json.loads(decoded_part(payload))
    return f"{head}.{encoded_part({**decoded, **claims})}.{signature}"


def decoded_part(part: str) -> bytes:
    """Return the bytes of a part of a token."""
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def encoded_part(fields: dict[str, Any]) -> str:
    """Return a part of a token."""
    return urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=").decode()


@asynccontextmanager
async def running_issuer() -> AsyncIterator[LocalIssuer]:
    """Serve an issuer on a free port."""
    issuer = LocalIssuer()
    async with web_server(issuer_app(issuer), "127.0.0.1", 0) as port:
        issuer.address = f"http://127.0.0.1:{port}"
        yield issuer
