"""Routes that sign people in: what the command line needs, and the pages' redirects."""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote_plus, urlencode

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response

from biaswatch.services.gateway.auth import is_https, local_path, redirect, set_cookie
from biaswatch.services.gateway.callers import COOKIE, caller_of_identity
from biaswatch.services.gateway.context import GatewayContext
from biaswatch.shared.contracts.access import Right
from biaswatch.shared.errors import NotFoundError, TransientError
from biaswatch.shared.network.openid import IssuerDocument, issuer_reply
from biaswatch.shared.requests.platform import SignInView

if TYPE_CHECKING:  # only a gateway with an issuer loads the library for signed tokens
    from biaswatch.services.gateway.sign_in.sessions import SignedCookies, SignIn

SIGN_IN = "sign-in"
"""The purpose of the cookie of a sign-in under way."""
SIGN_IN_COOKIE = "biaswatch_sign_in"
SIGN_IN_PATH = "/login/openid"
SIGN_IN_S = 600
"""Time to sign in at the issuer."""
SECRET_BYTES = 32
MAX_REASON_CHARACTERS = 100
NOT_OFFERED = "This gateway offers no sign-in. Ask its operator for a token."
NOT_BEGUN = (
    "This sign-in was not begun in this browser, or took more than ten minutes. Sign in again."
)
NO_ROLE = (
    "{name} is signed in, but may read nothing here: no group of theirs is in the tokens file."
)


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of the sign-in."""
    router = APIRouter()

    @router.get("/v1/sign-in")
    async def show_sign_in() -> SignInView:
        """Return how the command line signs in; this needs no token.

        Raises
        ------
        NotFoundError
            The gateway offers no sign-in for the command line.
        """
        issuer, client = ctx.settings.gateway_oidc_issuer, ctx.settings.gateway_oidc_cli_client
        if issuer is None or client is None:
            raise NotFoundError(NOT_OFFERED)
        return SignInView(issuer=issuer, client=client, scopes=ctx.settings.gateway_oidc_scopes)

    router.include_router(_page_routes(ctx), include_in_schema=False)
    return router


def _page_routes(ctx: GatewayContext) -> APIRouter:
    router = APIRouter()

    @router.get(SIGN_IN_PATH)
    async def begin(request: Request, next_path: Annotated[str, Depends(local_path)]) -> Response:
        sign_in, cookies = _offered(ctx)
        document = await sign_in.issuer.document()
        secrets = {name: token_urlsafe(SECRET_BYTES) for name in ("state", "nonce", "verifier")}
        question = {
            "response_type": "code",
            "client_id": ctx.settings.gateway_oidc_client or "",
            "redirect_uri": _callback_address(request),
            "scope": _page_scopes(ctx.settings.gateway_oidc_scopes),
            "state": secrets["state"],
            "nonce": secrets["nonce"],
            "code_challenge": challenge_of(secrets["verifier"]),
            "code_challenge_method": "S256",
        }
        response = redirect(_with_query(document.authorization_endpoint or "", question))
        value = cookies.write(SIGN_IN, {**secrets, "next": next_path}, SIGN_IN_S)
        set_cookie(response, request, SIGN_IN_COOKIE, value, SIGN_IN_S)
        return response

    @router.get(f"{SIGN_IN_PATH}/callback")
    async def complete(
        request: Request, state: str = "", code: str = "", error: str = ""
    ) -> Response:
        sign_in, cookies = _offered(ctx)
        pending = cookies.read(SIGN_IN, request.cookies.get(SIGN_IN_COOKIE, ""))
        if pending is None or not hmac.compare_digest(pending["state"].encode(), state.encode()):
            raise HTTPException(403, NOT_BEGUN)
        if error or not code:
            raise HTTPException(403, f"The issuer refused the sign-in: {_reason(error)}.")
        claims = await _claims(ctx, sign_in, request, code, pending)
        identity, known = sign_in.identity(claims), ctx.tokens.known.current()
        caller = caller_of_identity(known, identity, "")
        if not caller.may(Right.READ):
            raise HTTPException(403, NO_ROLE.format(name=caller.name))
        response = redirect(pending["next"])
        set_cookie(response, request, COOKIE, sign_in.session(known, identity), sign_in.session_s)
        response.delete_cookie(SIGN_IN_COOKIE)
        return response

    @router.post("/logout")
    async def log_out() -> Response:
        response = redirect("/login")
        response.delete_cookie(COOKIE)
        return response

    return router


def _offered(ctx: GatewayContext) -> "tuple[SignIn, SignedCookies]":
    """Return the sign-in of pages and its cookies; raise NotFoundError without one."""
    sign_in = ctx.sign_in
    if sign_in is None or sign_in.cookies is None or ctx.settings.gateway_oidc_client is None:
        raise NotFoundError(NOT_OFFERED)
    return sign_in, sign_in.cookies


async def _claims(
    ctx: GatewayContext, sign_in: "SignIn", request: Request, code: str, pending: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Exchange a code for a token; return its claims, which must belong to this sign-in."""
    document = await sign_in.issuer.document()
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": _callback_address(request),
        "code_verifier": pending["verifier"],
    }
    status, reply = await issuer_reply(
        "POST", document.token_endpoint, **_as_client(ctx, document, form)
    )
    token = reply.get("id_token")
    if not isinstance(token, str):
        reason = _reason(str(reply.get("error", f"HTTP {status}")))
        raise TransientError(f"The issuer gave no identity token: {reason}. Sign in again.")
    claims = await sign_in.issuer.claims(token)
    if not hmac.compare_digest(str(claims.get("nonce")).encode(), pending["nonce"].encode()):
        raise HTTPException(403, NOT_BEGUN)
    return claims


def _as_client(
    ctx: GatewayContext, document: IssuerDocument, form: Mapping[str, str]
) -> dict[str, Any]:
    """Return a form with the client's credentials, in the way that the issuer supports."""
    client, secret = ctx.settings.gateway_oidc_client or "", ctx.settings.gateway_oidc_secret
    password = secret.get_secret_value() if secret else ""
    if "client_secret_basic" in document.token_endpoint_auth_methods_supported:
        return {"form": form, "auth": (quote_plus(client), quote_plus(password))}
    return {"form": {**form, "client_id": client, "client_secret": password}}


def challenge_of(verifier: str) -> str:
    """Return the PKCE challenge of a verifier (RFC 7636)."""
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _page_scopes(scopes: str) -> str:
    """Return the scopes without the one for refresh tokens, which pages do not use."""
    return " ".join(scope for scope in scopes.split() if scope != "offline_access")


def _callback_address(request: Request) -> str:
    """Return where the issuer sends the browser back; it accepts only registered addresses."""
    scheme = "https" if is_https(request) else "http"
    return f"{scheme}://{request.headers.get('host', '')}{SIGN_IN_PATH}/callback"


def _with_query(address: str, query: Mapping[str, str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"


def _reason(error: str) -> str:
    """Return the printable start of an error code from outside."""
    return "".join(filter(str.isprintable, error))[:MAX_REASON_CHARACTERS] or "it gave no reason"
