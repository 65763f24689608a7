"""Access rights of routes, browser sessions, and the audit trail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from biaswatch.services.gateway.callers import (
    COOKIE,
    Caller,
    KnownTokens,
    caller_of,
    current_caller,
)
from biaswatch.shared.contracts import AuditAction, AuditedAct, Right, roles_with, session_of
from biaswatch.shared.errors import BiaswatchError, TransientError
from biaswatch.shared.runtime.auditing import AuditWriter
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import log

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src data:; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # With "no-referrer", browsers would also omit the origin of our own forms.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SCRIPTED_HEADERS = {
    **PAGE_HEADERS,
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self';"
        " img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none';"
        " require-trusted-types-for 'script'; trusted-types 'none'"
    ),
}
"""Headers of pages with charts: only our own scripts run, and they cannot create HTML from text."""
SESSION_S = 12 * 3600
UNKNOWN = (
    "The gateway refuses the token. Set BIASWATCH_TOKEN to one it knows, or sign in with `biaswatch"
    " login` if it offers that."
)
TOKEN_CHANGE = AuditedAct(
    actor="tokens file", role="operator", source="gateway", action=AuditAction.TOKEN_ADD
)
"""The act of changing tokens; the file itself says who made an entry."""
MAX_FAILURE_CHARACTERS = 500


class NotSignedInError(Exception):
    """The browser must sign in first; it then returns to the page."""

    def __init__(self, page: str) -> None:
        super().__init__(page)
        self.page = page


def local_path(next: str = "/") -> str:  # noqa: A002 - the name in the address
    """Return the page to show after signing in: a path of this gateway, never another site."""
    local = next.startswith("/") and not next.startswith("//") and "\\" not in next
    return next if local and next.isprintable() else "/"


def is_https(request: Request) -> bool:
    """Return whether the browser uses TLS, to the gateway or to a proxy.

    The header of a proxy may be forged, which harms only its sender.
    """
    forwarded = request.headers.get("x-forwarded-proto", "").split(",")[0].strip().lower()
    return "https" in (request.url.scheme, forwarded)


def redirect(page: str) -> RedirectResponse:
    """Return a redirect of a browser to a page, which it then reads with GET."""
    return RedirectResponse(page, 303, PAGE_HEADERS)


def set_cookie(response: Response, request: Request, name: str, value: str, lasts_s: int) -> None:
    """Set a cookie that scripts cannot read and forms of other sites do not send."""
    response.set_cookie(
        name, value, max_age=lasts_s, httponly=True, samesite="lax", secure=is_https(request)
    )


@dataclass(frozen=True)
class Tokens:
    """Dependencies of routes: each returns the caller, or refuses one without the right."""

    known: KnownTokens

    def require(self, right: Right) -> Any:
        """Return a dependency that requires a token with a right."""

        async def caller_with_right() -> Caller:
            caller = current_caller()
            if caller is None or caller.by_session:
                raise HTTPException(401, UNKNOWN, {"WWW-Authenticate": "Bearer"})
            return _with_right(right, caller)

        return Depends(caller_with_right)

    async def signed_in(self, request: Request) -> Caller:
        """Require a caller who may read pages; redirect an unknown one to the login page.

        A session ends when its token is removed, expires, or loses the right to read.
        """
        caller = current_caller()
        if caller is None:
            raise NotSignedInError(request.url.path)
        return _with_right(Right.READ, caller)

    def begin_session(self, token: str, page: str, request: Request) -> Response | None:
        """Return a redirect to a page that sets the session cookie; None for an unknown token."""
        headers = {"authorization": f"Bearer {token}"}
        caller = caller_of(self.known.current(), headers, None, "", self.known.now())
        if caller is None or not caller.may(Right.READ):
            return None
        response = redirect(page)
        set_cookie(response, request, COOKIE, session_of(token), SESSION_S)
        return response


def _with_right(right: Right, caller: Caller) -> Caller:
    if caller.may(right):
        return caller
    if caller.role is None:
        raise HTTPException(
            403, f"{caller.name} may do nothing here: no group of theirs is in the tokens file."
        )
    raise HTTPException(
        403,
        f"{caller.name} has the role {caller.role}, and this takes"
        f" {' or '.join(roles_with(right))}. Use another token.",
    )


async def redirect_to_login(_: Request, error: Exception) -> Response:
    """Redirect a browser to the login page."""
    page = error.page if isinstance(error, NotSignedInError) else "/"
    return redirect(f"/login?next={quote(page)}")


@dataclass(frozen=True)
class CallerAudit:
    """Writes acts of the caller of the current request."""

    writer: AuditWriter

    async def record(self, action: AuditAction, subject: str, **details: str) -> None:
        """Write an act that is only its entry; raise TransientError if it cannot be written."""
        await self.writer.append([_audited_act(action, subject, details)])

    @asynccontextmanager
    async def act(self, action: AuditAction, subject: str, **details: str) -> AsyncIterator[None]:
        """Write an act before it is done, and its failure if it fails.

        Raises
        ------
        TransientError
            The audit trail cannot be written, so the act must not be done.
        """
        act = _audited_act(action, subject, details)
        await self.writer.append([act])
        try:
            yield
        except Exception as error:
            # An unexpected error may contain anything, so only its type is recorded.
            failure = str(error) if isinstance(error, BiaswatchError) else type(error).__name__
            failed = act.model_copy(update={"failure": failure[:MAX_FAILURE_CHARACTERS]})
            await self.writer.append([failed])
            raise


def _audited_act(action: AuditAction, subject: str, details: dict[str, str]) -> AuditedAct:
    caller = current_caller()
    if caller is None:
        raise LookupError("An act of an unknown caller has to be audited.")
    return AuditedAct(
        tenant=caller.tenant,
        actor=caller.name,
        role=caller.role or "none",
        source=caller.source,
        action=action,
        subject=subject,
        details=details,
    )


class TokenAudit:
    """Writes which tokens were added and removed since any gateway last compared them."""

    def __init__(self, store: Store, writer: AuditWriter, known: KnownTokens) -> None:
        self._store = store
        self._writer = writer
        self._known = known
        self._noted: dict[str, str] | None = None

    async def note(self) -> None:
        """Write changed tokens; if the store is unavailable, the next request tries again."""
        if not self._known.needed:
            return
        described = self._known.current().described()
        if described == self._noted:
            return
        previous, self._noted = self._noted, described
        try:
            added = await in_thread(
                self._store.audit.append_token_changes, described, TOKEN_CHANGE, self._known.now()
            )
        except TransientError as error:
            self._noted = previous
            log("audit").warning("changed tokens are not in the audit trail yet", why=str(error))
            return
        await self._writer.anchor(added)
