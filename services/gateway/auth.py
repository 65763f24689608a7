"""Access rights of routes, browser sessions, and the audit trail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

from fastapi import HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from biaswatch.services.gateway.callers import (
    COOKIE,
    Caller,
    KnownTokens,
    caller_of,
    current_caller,
)
from biaswatch.shared.contracts.access import Right, roles_with, session_of
from biaswatch.shared.contracts.audit import AuditAction, AuditedAct
from biaswatch.shared.errors import BiaswatchError, TransientError
from biaswatch.shared.runtime.auditing import AuditWriter
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import log

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src data:; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Without any referrer a browser would not say either that a form is of a page of ours.
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
"""Of pages with charts: scripts are files of ours, and none of them may make HTML of a string."""
SESSION_S = 12 * 3600
UNKNOWN = "The gateway refuses the token. Set BIASWATCH_TOKEN to one it knows."


class NotSignedInError(Exception):
    """The browser must sign in first; it then returns to the page it wanted."""

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.where = where


def local_path(next: str = "/") -> str:  # noqa: A002 - the name in the address
    """Return where to go after signing in: a path of this gateway, never another site."""
    ours = next.startswith("/") and not next.startswith("//") and "\\" not in next
    return next if ours and next.isprintable() else "/"


class Tokens:
    """Dependencies of routes: each returns the caller, or refuses one without the right."""

    def __init__(self, known: KnownTokens) -> None:
        self._known = known

    async def may_read(self) -> Caller:
        """Refuse a request whose sender may not read."""
        return _allowed(Right.READ)

    async def may_run(self) -> Caller:
        """Refuse a request whose sender may not start, change and end work."""
        return _allowed(Right.RUN)

    async def may_ingest(self) -> Caller:
        """Refuse a request whose sender may not send in answers of live systems."""
        return _allowed(Right.INGEST)

    async def may_administer(self) -> Caller:
        """Refuse a request whose sender may not remove texts and see who did what."""
        return _allowed(Right.ADMINISTER)

    async def signed_in(self, request: Request) -> Caller:
        """Refuse a request for a page whose sender may not read; ask somebody unknown to sign in.

        A session ends once its token is removed, expires, or may no longer read.
        """
        caller = current_caller()
        if caller is None:
            raise NotSignedInError(request.url.path)
        return _with(Right.READ, caller)

    def begin_session(self, token: str, page: str, request: Request) -> Response | None:
        """Return a redirect to a page that sets the session of a token; None for an unknown one."""
        offered = {"authorization": f"Bearer {token}"}
        caller = caller_of(self._known.current(), offered, None, "", self._known.now())
        if caller is None or not caller.may(Right.READ):
            return None
        # The browser uses TLS, to us or a proxy; a false header harms only itself.
        forwarded = request.headers.get("x-forwarded-proto", "").split(",")[0].strip().lower()
        response = RedirectResponse(page, 303, PAGE_HEADERS)
        response.set_cookie(
            COOKIE,
            session_of(token),
            max_age=SESSION_S,
            httponly=True,
            samesite="lax",
            secure="https" in (request.url.scheme, forwarded),
        )
        return response


def _allowed(right: Right) -> Caller:
    caller = current_caller()
    if caller is None or caller.by_session:
        raise HTTPException(401, UNKNOWN, {"WWW-Authenticate": "Bearer"})
    return _with(right, caller)


def _with(right: Right, caller: Caller) -> Caller:
    """Return the caller, or refuse one without a right, in words that say who has it."""
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
    where = error.where if isinstance(error, NotSignedInError) else "/"
    return RedirectResponse(f"/login?next={quote(where)}", 303, PAGE_HEADERS)


NOTICED = AuditedAct(
    actor="tokens file", role="operator", source="gateway", action=AuditAction.TOKEN_ADD
)
"""Who changes tokens: whoever may write the file, which says itself who made an entry."""
MOST_CHARACTERS = 500
"""Of a sentence that says why something failed."""


class CallerAudit:
    """Writes acts of the caller of the request that is being handled."""

    def __init__(self, writer: AuditWriter) -> None:
        self._writer = writer

    @asynccontextmanager
    async def act(self, action: AuditAction, subject: str, **details: str) -> AsyncIterator[None]:
        """Write what is about to be done; where it then fails, write that too.

        Raises
        ------
        TransientError
            The trail cannot be written, so it must not be done.
        """
        caller = current_caller()
        if caller is None:
            raise LookupError("Somebody unknown does what has to be audited.")
        announced = act_of(caller, action, subject, details)
        await self._writer.append([announced])
        try:
            yield
        except Exception as error:
            # What nobody expected may hold anything: its kind says enough.
            said = str(error) if isinstance(error, BiaswatchError) else type(error).__name__
            failed = announced.model_copy(update={"failure": said[:MOST_CHARACTERS]})
            await self._writer.append([failed])
            raise


def act_of(
    caller: Caller, action: AuditAction, subject: str, details: dict[str, str]
) -> AuditedAct:
    """Return what a caller does, as the trail says it."""
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
    """Writes which tokens came and went since any gateway looked last."""

    def __init__(self, store: Store, writer: AuditWriter, known: KnownTokens) -> None:
        self._store = store
        self._writer = writer
        self._known = known
        self._noted: dict[str, str] | None = None

    async def note(self) -> None:
        """Note changed tokens; a store that is away is asked again at the next request."""
        described = self._known.current().described()
        if not self._known.needed or described == self._noted:
            return
        before, self._noted = self._noted, described
        try:
            added = await in_thread(
                self._store.audit.append_token_changes, described, NOTICED, self._known.now()
            )
        except TransientError as error:
            self._noted = before
            log("audit").warning("changed tokens are not in the audit trail yet", why=str(error))
            return
        await self._writer.anchor(added)
