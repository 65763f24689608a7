"""Any HTTP application: a request template, and a pointer to the answer in its reply.

The parameters of such a target are the whole description, so the generator needs no file. The
command line reads the description from a YAML or JSON file, which the target names.
"""

import json
from typing import Annotated
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, JsonValue, StringConstraints

from biaswatch.shared.contracts.providers import Provider

Pointer = Annotated[str, StringConstraints(pattern=r"^(/.*)?$")]


class StepPointers(BaseModel):
    """Where the steps of an application are in its reply, as JSON pointers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    list: Pointer
    """The list of steps: `/trace/steps`."""
    name: Pointer = "/name"
    """The tool, within a step."""
    arguments: Pointer = "/arguments"
    """The arguments within a step: an object, or its JSON."""
    result: Pointer = "/result"
    """The text that the tool returned, within a step."""


class Application(BaseModel):
    """The request to an application."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s@/]+(/\S*)?$")]
    """The address, for POST; no user or password."""
    request: dict[str, JsonValue]
    """The body; `{prompt}`, `{system}`, `{repeat}` and `{messages}` are replaced."""
    answer: Pointer
    """Where the answer is in the reply, as a JSON pointer: `/choices/0/text`."""
    steps: StepPointers | None = None
    """Where the calls of tools are in the reply, if the application returns them."""
    headers: dict[str, str] = {}
    """Further headers; no secrets: records hold them."""
    key_header: str = "Authorization"
    """The header a key goes into, where the generator has one for this host."""
    key_prefix: str = "Bearer "
    """The prefix of the key in that header."""

    def as_parameters(self) -> str:
        """Return the description as a target's parameters."""
        fields = self.model_dump(mode="json", exclude_defaults=True)
        return urlencode({name: json.dumps(value) for name, value in fields.items()})


PROVIDER = Provider(
    example="http:application.yaml",
    adapter="llm.http_app:HttpApp.connect",
    request_model=Application,
)
