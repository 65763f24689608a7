"""Forms of pages: CSRF tokens, permissions, and single execution."""

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable
from datetime import datetime
from hashlib import sha256
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Depends, HTTPException, Request
from fastapi.responses import HTMLResponse

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.shared.contracts.access import Right
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.store.sent_forms import FormState

FORM_COOKIE = "biaswatch_form"
FORM_FIELD = "form_token"


def new_secret() -> str:
    """Return what a browser keeps in the cookie."""
    return secrets.token_urlsafe(32)


def new_number() -> str:
    """Return what tells one form from every other, also from the same one on a later page."""
    return secrets.token_hex(12)


def form_token(secret: str, action: str, number: str) -> str:
    """Return the token of one form that does one thing, for a browser with this secret."""
    signed = hmac.new(secret.encode(), f"{action}\n{number}".encode(), sha256).hexdigest()
    return f"{number}.{signed}"


def is_ours(secret: str | None, action: str, given: str) -> bool:
    """Tell whether a form was on a page that this browser was shown, and for this action."""
    if not secret:
        return False
    known = form_token(secret, action, given.partition(".")[0])
    return hmac.compare_digest(known.encode(), given.encode())


def form_key(tenant: str, path: str, body: bytes) -> str:
    """Return the name of a form as it was filled in: pressed twice, it has the same."""
    return sha256(f"{tenant}\n{path}\n".encode() + body).hexdigest()


FORGED = "This form was not on a page that this browser was shown. Load the page again, and repeat."
KEPT_S = 12 * 3600


class PageForms:
    """The forms of one page; whoever may change nothing has none."""

    def __init__(self, request: Request, caller: Caller) -> None:
        self._known = request.cookies.get(FORM_COOKIE)
        self._secret = self._known or new_secret()
        forwarded = request.headers.get("x-forwarded-proto", "").split(",")[0].strip().lower()
        self._secure = "https" in (request.url.scheme, forwarded)
        self.allowed = caller.may(Right.RUN)

    def token(self, action: str) -> str:
        """Return the token of the form that is sent to this path."""
        return form_token(self._secret, action, new_number())

    def kept_by(self, page: HTMLResponse) -> HTMLResponse:
        """Return the page with the cookie that its forms need; another site's form lacks it."""
        if self.allowed and not self._known:
            page.set_cookie(
                FORM_COOKIE,
                self._secret,
                max_age=KEPT_S,
                httponly=True,
                samesite="lax",
                secure=self._secure,
            )
        return page


def forms_with(tokens: Tokens) -> Callable[..., Awaitable[PageForms]]:
    """Return the dependency of routes whose pages have forms."""

    async def page_forms(
        request: Request, caller: Annotated[Caller, Depends(tokens.signed_in)]
    ) -> PageForms:
        return PageForms(request, caller)

    return page_forms


async def sent_form(request: Request, caller: Caller) -> dict[str, str]:
    """Return the fields of a form, once it is known who sent it and from which page.

    Raises
    ------
    HTTPException
        The caller may change nothing, or the form is not from a page of ours.
    """
    if not caller.may(Right.RUN):
        raise HTTPException(
            403, f"{caller.name} has the role {caller.role}, which changes nothing here."
        )
    sent = parse_qs((await request.body()).decode("utf-8", "replace"))
    fields = {name: values[0] for name, values in sent.items()}
    given = fields.pop(FORM_FIELD, "")
    if not is_ours(request.cookies.get(FORM_COOKIE), request.url.path, given):
        raise HTTPException(403, FORGED)
    return fields


LOOK_EVERY_S = 0.1
PATIENCE_S = 10.0
"""How long the second press waits for the first to be done; then its page is shown as it is."""


class SingleUse:
    """Takes forms once; also of several gateways on one store, and of one that dies."""

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    async def once(
        self, request: Request, caller: Caller, act: Callable[[], Awaitable[object]]
    ) -> None:
        """Do what a form asks for, unless it is done already.

        What fails may be sent again. A note that was changed is another form.
        """
        key = form_key(caller.tenant, request.url.path, await request.body())
        if not await self._taken(key):
            return
        try:
            await act()
        except BaseException:
            await in_thread(self._store.sent_forms.give_back, key)
            raise
        await in_thread(self._store.sent_forms.finish, key)

    async def _taken(self, key: str) -> bool:
        until = asyncio.get_running_loop().time() + PATIENCE_S
        while asyncio.get_running_loop().time() < until:
            state = await in_thread(self._store.sent_forms.take, key, self._now())
            if state is not FormState.UNDER_WAY:
                return state is FormState.FIRST
            await asyncio.sleep(LOOK_EVERY_S)
        return False
