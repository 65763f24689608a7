"""Tokens against forged forms: a page's form and a cookie that no other site can read or send."""

import hmac
import secrets
from hashlib import sha256

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
