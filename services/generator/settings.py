"""The generator's settings, and the keys that it alone holds."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr, create_model

from biaswatch.services.generator.domain.model_calls import Price
from biaswatch.shared.contracts.providers import PROVIDERS, key_variables
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.runtime.settings import Settings

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")


def _key_fields() -> dict[str, Any]:
    """Return two settings for each provider's key: the key, or the file with it, which is better.

    No other server gets the key.
    """
    fields: dict[str, Any] = {}
    for variable in key_variables():
        aliases = AliasChoices(f"BIASWATCH_{variable}", variable)
        fields[variable.lower()] = (SecretStr | None, Field(None, validation_alias=aliases))
        fields[f"{variable.lower()}_file"] = (Path | None, None)
    return fields


if TYPE_CHECKING:
    ProviderKeys = Settings
else:
    ProviderKeys = create_model("ProviderKeys", __base__=Settings, **_key_fields())


class GeneratorSettings(ProviderKeys):
    """What can be set on the generator, beyond what every service has."""

    generator_slots: int = Field(default=100, ge=1, le=2000)
    """The most calls in flight to one target, from one process; in hand are a quarter more."""
    generator_start: int = Field(default=20, ge=1, le=2000)
    """Calls in flight to one target to begin with; it grows from there and shrinks with 429s."""
    generator_cap: int | None = Field(default=None, ge=1)
    """The most probes of one target that all replicas together have in hand; none without it."""
    generator_tries: int = Field(default=4, ge=1)
    """How often a call may fail before its failure is the outcome; a 429 does not count."""
    generator_begins: int = Field(default=10, ge=1)
    """How often a call may begin anew, over all deliveries and repairs of its probe; then that is
    the outcome. So a call is paid for at most this often times `generator_tries`."""
    generator_patience_s: float = Field(default=600, gt=0)
    """How long 429s may put a call off before that is the outcome."""
    generator_pause_s: float = Field(default=5, gt=0)
    """How long a target that refuses its key is left alone at first; it doubles from there."""
    generator_timeout_s: float = Field(default=120, gt=0)
    """How long one try of a call may take."""
    generator_keep_days: float = Field(default=7, gt=0)
    """How long paid answers are kept against redelivery; as long as the bus keeps probes."""
    generator_private_hosts: tuple[str, ...] = ()
    """Hosts that a target may name although they have private addresses, as JSON; `*.internal` for
    all below. SDKs ask them through the proxies of the environment, all others without."""
    generator_recordings_dir: Path | None = None
    """The folder that the files of `replay:` targets lie in; without one, none is opened."""
    prices_file: Path | None = None
    """YAML: what a million tokens `read` and `written` cost, by model; needed for money budgets."""
    simulator_url: str = "http://127.0.0.1:8090/v1"
    """Where `simulator:` targets are asked."""
    keys_dir: Path | None = None
    """A folder of keys for other servers: one file each, named like the server's host."""

    def key_for(self, name: str, base_url: str | None) -> str | None:
        """Return the key for a provider's own server, or for the server at an address.

        Raises
        ------
        ConfigurationError
            A provider's own server needs a key and there is none, or a file cannot be read.
        """
        provider = PROVIDERS[name]
        if base_url:
            return self.host_key(base_url)
        if provider.key_variable is None:
            return self.host_key(provider.url or "")
        if path := getattr(self, f"{provider.key_variable.lower()}_file"):
            return _read(path)
        secret: SecretStr | None = getattr(self, provider.key_variable.lower())
        if secret and secret.get_secret_value().strip():
            return secret.get_secret_value().strip()
        raise ConfigurationError(
            f"There is no key for {name}: targets. Set {provider.key_source} for the generator."
        )

    def host_key(self, url: str) -> str | None:
        """Return the key for the server at an address; it may need none."""
        host = urlsplit(url).hostname or ""
        if not self.keys_dir or not _HOST.fullmatch(host):
            return None
        path = self.keys_dir / host
        return _read(path) if path.is_file() else None

    def prices(self) -> dict[str, Price]:
        """Return the price table; empty where there is none.

        Raises
        ------
        ConfigurationError
            The file cannot be read, or a price is wrong.
        """
        if self.prices_file is None:
            return {}
        expected = "a price table names models and what a million tokens cost"
        text = read_text(self.prices_file, "price table", ConfigurationError)
        fields = yaml_mapping(text or "{}", self.prices_file, expected, ConfigurationError)
        return {
            str(name): checked(
                Price, price, f"The price table {self.prices_file}, {name}", ConfigurationError
            )
            for name, price in fields.items()
        }


def _read(path: Path) -> str:
    text = read_text(path, "file", ConfigurationError).strip()
    if not text:
        raise ConfigurationError(f"The file {path} is empty.")
    return text
