"""The operator's file of channels: a name, a kind, an address, and where its secrets are."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from biaswatch.shared.contracts.identity import Token

ADDRESS = r"^https?://[^\s@?#]+$"
LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OUR_LABELS = frozenset(
    {"alertname", "monitor", "feature", "comparison", "what", "severity", "tenant"}
)


class Declared(BaseModel):
    """A part of the file, in which a misspelt word is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class SecretReference(Declared):
    """Where a secret is: in a file, which is better, or in a variable of the environment."""

    file: Path | None = None
    """The file that holds it, relative to the folder of the file of channels; read at every use."""
    env: str | None = Field(default=None, min_length=1)
    """The variable of the diagnoser that holds it."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.file is None) == (self.env is None):
            raise ValueError("a secret is in one place: write {file: PATH} or {env: NAME}")
        return self

    def in_words(self) -> str:
        """Return the place that it refers to."""
        return f"the file {self.file}" if self.file else f"the variable {self.env}"


class AlertmanagerChannel(Declared):
    """Prometheus's Alertmanager, which groups, silences and routes; it hears of every end."""

    kind: Literal["alertmanager"]
    """`alertmanager`."""
    url: str = Field(pattern=ADDRESS)
    """Its address, such as http://alertmanager:9093; without a password."""
    labels: dict[str, str] = {}
    """Labels that every alert has, for Alertmanager's routes."""
    severity: str = "warning"
    """The label `severity`."""
    bearer_token: SecretReference | None = None
    """The token that it asks for, if it does."""
    username: str | None = None
    """The user that it asks for, if it does."""
    password: SecretReference | None = None
    """That user's password."""

    @field_validator("labels")
    @classmethod
    def _valid(cls, labels: dict[str, str]) -> dict[str, str]:
        if wrong := [name for name in labels if not LABEL.fullmatch(name)]:
            raise ValueError(f"{wrong[0]!r} is no name of a label: letters, digits and _ alone")
        if ours := sorted(OUR_LABELS & labels.keys()):
            raise ValueError(f"the label {ours[0]} is set by the alarm itself")
        return labels

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password belong together")
        if self.username is not None and self.bearer_token is not None:
            raise ValueError("give a bearer_token or a username with its password, not both")
        return self


class MessageChannel(Declared):
    """What takes one message for each alarm."""

    cleared: bool = True
    """Whether it is told when an alarm is over, too."""


class WebhookChannel(MessageChannel):
    """Any HTTP server that takes a POST of JSON."""

    kind: Literal["webhook"]
    """`webhook`."""
    url: SecretReference
    """Where its address is; who knows it may post there."""
    bearer_token: SecretReference | None = None
    """The token that it asks for, if it does."""


class AppriseChannel(MessageChannel):
    """Chat, mail or a pager, by the library apprise."""

    kind: Literal["apprise"]
    """`apprise`."""
    url: SecretReference
    """Where its address in apprise's form is: mailtos://..., slack://..., pagerduty://..."""


AnyChannel = Annotated[
    AlertmanagerChannel | WebhookChannel | AppriseChannel, Field(discriminator="kind")
]


class DeclaredChannels(Declared):
    """The whole file."""

    channels: dict[Token, AnyChannel] = Field(min_length=1)
    """The channels by name."""
