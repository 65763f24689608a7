"""Who may do what: roles and their rights, and the file that names tokens without knowing them."""

import hashlib
import hmac
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints, model_validator

from biaswatch.shared.contracts.identity import DEFAULT_TENANT, Name, Token

Verifier = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
ID_DIGITS = 8


class Right(StrEnum):
    """A right that a route requires."""

    READ = "read"
    RUN = "run"
    INGEST = "ingest"
    ADMINISTER = "administer"


class TokenRole(StrEnum):
    """The role of a token."""

    READ = "read"
    RUN = "run"
    INGEST = "ingest"
    ADMIN = "admin"


RIGHTS: Mapping[TokenRole, frozenset[Right]] = {
    TokenRole.READ: frozenset({Right.READ}),
    TokenRole.RUN: frozenset({Right.READ, Right.RUN, Right.INGEST}),
    TokenRole.INGEST: frozenset({Right.INGEST}),
    TokenRole.ADMIN: frozenset(Right),
}
"""The rights of each role. Reading texts is a right of its own, which roles that read may have."""


def roles_with(right: Right) -> list[str]:
    """Return the names of the roles that have a right."""
    return [role.value for role in TokenRole if right in RIGHTS[role]]


def session_of(token: str) -> str:
    """Derive a browser's session from a token: it does not reveal the token."""
    return hmac.new(token.encode(), b"a browser's session", "sha256").hexdigest()


def verifier_of(token: str) -> str:
    """Return what tells a token from all others and reveals neither it nor its session.

    Tokens are drawn from 256 random bits, so that a plain hash cannot be guessed back.
    """
    return verifier_of_session(session_of(token))


def verifier_of_session(session: str) -> str:
    """Return the verifier of the token that a session was derived from."""
    return hashlib.sha256(session.encode()).hexdigest()


class Grant(BaseModel):
    """Rights in a tenant."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    role: TokenRole
    """read, run, ingest or admin."""
    tenant: Token = DEFAULT_TENANT
    """Whose runs, monitors and answers it sees and changes; no others are there for it."""
    texts: bool = False
    """True if it may read the texts of users and models, beside the numbers."""

    @model_validator(mode="after")
    def _texts_are_read(self) -> Self:
        if self.texts and Right.READ not in RIGHTS[self.role]:
            raise ValueError(f"the role {self.role} reads nothing, so it has no right to texts")
        return self

    def in_words(self) -> str:
        """Return what it may do, as a person reads it."""
        return f"{self.role} of {self.tenant}{', with texts' if self.texts else ''}"


class TokenGrant(Grant):
    """One token, known by its verifier."""

    name: Name
    """Whose token it is: what the audit trail says. One name may have several, to rotate them."""
    verifier: Verifier
    """As `biaswatch admin tokens add` computes it."""
    expires: AwareDatetime | None = None
    """From when on it is refused."""
    made_by: str = ""
    """Who made it, as `biaswatch admin tokens add` found out."""

    @property
    def label(self) -> str:
        """Its name, and the digits that tell it from others of this name."""
        return f"{self.name} ({self.verifier[:ID_DIGITS]})"


class ProxyGrant(BaseModel):
    """A proxy that signs people in and names them in headers, known by the token it sends."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    name: Name
    """The proxy's name."""
    verifier: Verifier
    """As `biaswatch admin tokens add --proxy` computes it."""
    made_by: str = ""
    """Who made it."""

    @property
    def label(self) -> str:
        """Its name, and the digits that tell it from others of this name."""
        return f"{self.name} ({self.verifier[:ID_DIGITS]})"


class GroupGrant(Grant):
    """The rights of people in a group, after a proxy has signed them in."""

    group: Name
    """The group as the proxy names it."""


class TokensFile(BaseModel):
    """The file of tokens, several of each kind; it holds none of them in readable form."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    tokens: tuple[TokenGrant, ...] = ()
    """Tokens of people and programs."""
    proxies: tuple[ProxyGrant, ...] = ()
    """Proxies whose word about people is believed."""
    groups: tuple[GroupGrant, ...] = ()
    """The rights of those people; the first group in this order that a person is in counts."""

    @model_validator(mode="after")
    def _no_token_twice(self) -> Self:
        verifiers = [token.verifier for token in self.tokens]
        verifiers += [proxy.verifier for proxy in self.proxies]
        if len(set(verifiers)) < len(verifiers):
            raise ValueError("a token is named twice; remove one of its entries")
        return self

    def described(self) -> dict[str, str]:
        """Return in words what each token, proxy and group may do, for the audit trail."""
        grants = {token.label: token.in_words() + _made_by(token.made_by) for token in self.tokens}
        grants |= {
            f"proxy {proxy.label}": "names people" + _made_by(proxy.made_by)
            for proxy in self.proxies
        }
        return grants | {f"group {group.group}": group.in_words() for group in self.groups}


def _made_by(name: str) -> str:
    return f", made by {name}" if name else ""
