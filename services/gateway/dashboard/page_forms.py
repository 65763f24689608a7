"""Forms of pages: CSRF tokens, permissions, and forms that are executed once."""

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Depends, HTTPException, Request
from fastapi.responses import HTMLResponse

from biaswatch.services.gateway.auth import Tokens, set_cookie
from biaswatch.services.gateway.callers import Caller
from biaswatch.shared.contracts.access import Right
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.store.sent_forms import FormState

FORM_COOKIE = "biaswatch_form"
FORM_FIELD = "form_token"


def new_form_id() -> str:
    """Return a random id of a form."""
    return secrets.token_hex(12)


def form_token(secret: str, action: str, form_id: str) -> str:
    """Return the token of a form for one action, for a browser with this secret."""
    signature = hmac.new(secret.encode(), f"{action}\n{form_id}".encode(), sha256).hexdigest()
    return f"{form_id}.{signature}"


def is_valid_token(secret: str | None, action: str, token: str) -> bool:
    """Return whether a form is of a page that this browser was shown, and for this action."""
    if not secret:
        return False
    expected = form_token(secret, action, token.partition(".")[0])
    return hmac.compare_digest(expected.encode(), token.encode())


def form_key(tenant: str, path: str, body: bytes) -> str:
    """Return the key of a filled-in form: sent twice, it has the same."""
    return sha256(f"{tenant}\n{path}\n".encode() + body).hexdigest()


FORGED = "This form was not on a page that this browser was shown. Load the page again, and repeat."
FORM_COOKIE_S = 12 * 3600


class PageForms:
    """The forms of one page; a caller without the right to run gets none."""

    def __init__(self, request: Request, caller: Caller) -> None:
        self._cookie = request.cookies.get(FORM_COOKIE)
        self._secret = self._cookie or secrets.token_urlsafe(32)
        self._request = request
        self.allowed = caller.may(Right.RUN)

    def token(self, action: str) -> str:
        """Return the token of a form that is sent to this path."""
        return form_token(self._secret, action, new_form_id())

    def with_cookie(self, page: HTMLResponse) -> HTMLResponse:
        """Add the cookie that the forms of a page need and that forms of other sites lack."""
        if self.allowed and not self._cookie:
            set_cookie(page, self._request, FORM_COOKIE, self._secret, FORM_COOKIE_S)
        return page


def forms_with(tokens: Tokens) -> Callable[..., Awaitable[PageForms]]:
    """Return the dependency of pages with forms."""

    async def page_forms(
        request: Request, caller: Annotated[Caller, Depends(tokens.signed_in)]
    ) -> PageForms:
        return PageForms(request, caller)

    return page_forms


async def sent_form(request: Request, caller: Caller) -> dict[str, str]:
    """Return the fields of a form, after checking its sender and its token.

    Raises
    ------
    HTTPException
        The caller may not run anything, or the form is not from a page of ours.
    """
    if not caller.may(Right.RUN):
        raise HTTPException(
            403, f"{caller.name} has the role {caller.role}, which changes nothing here."
        )
    sent = parse_qs((await request.body()).decode("utf-8", "replace"))
    fields = {name: values[0] for name, values in sent.items()}
    token = fields.pop(FORM_FIELD, "")
    if not is_valid_token(request.cookies.get(FORM_COOKIE), request.url.path, token):
        raise HTTPException(403, FORGED)
    return fields


POLL_S = 0.1
MAX_WAIT_S = 10.0
"""How long a repeated form waits for the first one; then its page is shown as it is."""


@dataclass(frozen=True)
class IdempotentForms:
    """Executes forms once, also with several gateways on one store and after a crash."""

    store: Store
    now: Callable[[], datetime]

    async def once(
        self, request: Request, caller: Caller, act: Callable[[], Awaitable[object]]
    ) -> None:
        """Execute a form unless it was executed; a failed one may be sent again.

        A form with other fields, such as a changed note, is another form.
        """
        key = form_key(caller.tenant, request.url.path, await request.body())
        if not await self._claim(key):
            return
        try:
            await act()
        except BaseException:
            await in_thread(self.store.sent_forms.give_back, key)
            raise
        await in_thread(self.store.sent_forms.finish, key)

    async def _claim(self, key: str) -> bool:
        until = asyncio.get_running_loop().time() + MAX_WAIT_S
        while asyncio.get_running_loop().time() < until:
            state = await in_thread(self.store.sent_forms.take, key, self.now())
            if state is not FormState.UNDER_WAY:
                return state is FormState.FIRST
            await asyncio.sleep(POLL_S)
        return False
