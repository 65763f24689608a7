"""Settings, provider keys and prices of the generator."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr

from biaswatch.services.generator.domain.model_calls import Price
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.runtime.settings import Settings

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")


class GeneratorSettings(Settings):
    """Settings of the generator, and the provider keys, which no other service holds.

    A key comes from a variable, or better from a file; no other server gets a provider's key.
    """

    openai_api_key: SecretStr | None = Field(
        None, validation_alias=AliasChoices("BIASWATCH_OPENAI_API_KEY", "OPENAI_API_KEY")
    )
    openai_api_key_file: Path | None = None
    anthropic_api_key: SecretStr | None = Field(
        None, validation_alias=AliasChoices("BIASWATCH_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY")
    )
    anthropic_api_key_file: Path | None = None

    generator_slots: int = Field(default=100, ge=1, le=2000)
    """Maximum calls in flight to one target from one process; it holds a quarter more probes."""
    generator_start: int = Field(default=20, ge=1, le=2000)
    """Initial limit of calls in flight to one target; it adapts to answers and 429s."""
    generator_cap: int | None = Field(default=None, ge=1)
    """Maximum probes of one target held by all replicas together; unlimited by default."""
    generator_tries: int = Field(default=4, ge=1)
    """Failures of a call before the last one is the outcome; a 429 does not count."""
    generator_max_starts: int = Field(default=10, ge=1)
    """Starts of a call, over all deliveries and repairs of its probe. A call is paid for at most
    this many times `generator_tries`."""
    generator_patience_s: float = Field(default=600, gt=0)
    """Time for which 429s may delay a call before it fails."""
    generator_pause_s: float = Field(default=5, gt=0)
    """First pause of a target that refuses its key; it doubles with every refusal."""
    generator_timeout_s: float = Field(default=120, gt=0)
    """Time limit of one attempt of a call."""
    generator_batch_poll_s: float = Field(default=60, gt=0)
    """Time between two looks at the batches of providers."""
    generator_keep_days: float = Field(default=7, gt=0)
    """Retention of paid answers for redeliveries; as long as the bus keeps probes."""
    generator_private_hosts: tuple[str, ...] = ()
    """Hosts with private addresses that targets may name, as JSON; `*.internal` includes all
    subdomains. Only these are reached through the proxies of the environment."""
    generator_recordings_dir: Path | None = None
    """The folder with the files of `replay:` targets; without it, none is opened."""
    generator_local_models_dir: Path | None = None
    """The folder with the logs of the models that `local:` targets start; without it, none is."""
    prices_file: Path | None = None
    """YAML file with the price of a million tokens `read` and `written` by model, for budgets."""
    simulator_url: str = "http://127.0.0.1:8090/v1"
    """Address of `simulator:` targets."""
    keys_dir: Path | None = None
    """A folder with keys of other servers: one file each, named like the host of the server."""

    def key_for(self, name: str, base_url: str | None) -> str | None:
        """Return the key of a provider's own server, or of the server at an address.

        Raises
        ------
        ConfigurationError
            The key of a provider's own server is missing, or a file cannot be read.
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
        """Return the key of the server at an address, or None."""
        host = urlsplit(url).hostname or ""
        if not self.keys_dir or not _HOST.fullmatch(host):
            return None
        path = self.keys_dir / host
        return _read(path) if path.is_file() else None

    def prices(self) -> dict[str, Price]:
        """Return the price table; empty without a file.

        Raises
        ------
        ConfigurationError
            The file cannot be read, or a price is invalid.
        """
        if self.prices_file is None:
            return {}
        expected = "a price table maps models to the price of a million tokens"
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
