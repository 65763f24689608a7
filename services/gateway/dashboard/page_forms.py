"""Forms of pages: who gets buttons, and which sent form is taken for one of ours."""

from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Depends, HTTPException, Request
from fastapi.responses import HTMLResponse

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.dashboard.form_tokens import (
    FORM_COOKIE,
    FORM_FIELD,
    form_token,
    is_ours,
    new_number,
    new_secret,
)
from biaswatch.shared.contracts.access import Right

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
