"""The generator's knobs, and the keys that it alone holds."""

from pathlib import Path

from pydantic import AliasChoices, Field, SecretStr

from shared.errors import ConfigurationError
from shared.runtime.settings import Settings


class GeneratorSettings(Settings):
    """What can be set on the generator, beyond what every service has."""

    generator_slots: int = Field(default=20, ge=1, le=1000)
    """Calls in flight to one target, from one process."""
    generator_tries: int = Field(default=4, ge=1)
    """How often a call is made before its failure is the recorded outcome."""
    generator_timeout_s: float = Field(default=120, gt=0)
    """How long one call may take."""
    simulator_url: str = "http://127.0.0.1:8090/v1"
    """Where `simulator:` targets are asked."""
    openai_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("BIASWATCH_OPENAI_API_KEY", "OPENAI_API_KEY")
    )
    """The key for `openai:` targets."""
    openai_api_key_file: Path | None = None
    """The file with that key, which is better than a variable."""

    def openai_key(self, base_url: str | None) -> str:
        """Give the key; a server of one's own may need none."""
        if self.openai_api_key_file:
            try:
                return self.openai_api_key_file.read_text().strip()
            except OSError as error:
                raise ConfigurationError(
                    f"The key file {self.openai_api_key_file} cannot be read ({error.strerror})."
                ) from None
        if self.openai_api_key:
            return self.openai_api_key.get_secret_value()
        if base_url:
            return "none"
        raise ConfigurationError(
            "There is no key for openai: targets. Set OPENAI_API_KEY, or"
            " BIASWATCH_OPENAI_API_KEY_FILE, for the generator."
        )
