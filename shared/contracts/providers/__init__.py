"""The providers of models, one file each: what is known of them without asking them."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules

from pydantic import BaseModel


@dataclass(frozen=True, kw_only=True)
class Provider:
    """The facts about one provider; no SDK is loaded to know them."""

    example: str
    """A target as a person writes it."""
    adapter: str
    """The adapter of the generator, as `module:function` below the package `shared`; its SDK
    is loaded with it, not here."""
    url: str | None = None
    """The provider's own server."""
    takes_address: bool = False
    """True if `@base_url` may name another server that speaks the same format."""
    key_variable: str | None = None
    """The variable with the key of the provider's own server, which no other server gets; without
    one, the key is read from BIASWATCH_KEYS_DIR, under the name of the server's host."""
    batches: bool = False
    """True if many calls can be sent in one batch, at half the price."""
    takes_cache_key: bool = False
    """True if requests have `user` and `prompt_cache_key`."""
    request_model: type[BaseModel] | None = None
    """The model of a target's parameters, where they describe the request."""
    simulated: bool = False
    """True if our simulator answers: it gets the repeat, and costs nothing."""
    local: bool = False
    """True if the model is a GGUF file, for which the generator starts a server."""
    recorded: bool = False
    """True if the model is a file of answers, whose name follows the colon."""

    @property
    def free(self) -> bool:
        """Tell whether an answer costs nothing."""
        return self.simulated or self.recorded or self.local

    @property
    def key_source(self) -> str:
        """Where a person sets the key."""
        return f"{self.key_variable}, or BIASWATCH_{self.key_variable}_FILE,"


PROVIDERS: Mapping[str, Provider] = {
    name.replace("_", "-"): import_module(f"{__name__}.{name}").PROVIDER
    for name in sorted(module.name for module in iter_modules(__path__))
}
"""By the name that begins a target, which is that of the file."""


def is_recorded(provider: str) -> bool:
    """Tell whether targets of a provider are files of answers; one that is not known has none."""
    known = PROVIDERS.get(provider)
    return known is not None and known.recorded


def key_variables() -> tuple[str, ...]:
    """Return the variables that hold providers' keys, each once."""
    return tuple(dict.fromkeys(p.key_variable for p in PROVIDERS.values() if p.key_variable))
