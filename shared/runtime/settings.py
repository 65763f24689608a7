"""Settings every service has, read from the environment (`BIASWATCH_...`) and nowhere else."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AliasChoices, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.files import read_text, yaml_mapping

S = TypeVar("S", bound="Settings")

Port = Annotated[int, Field(ge=0, le=65535)]


class Settings(BaseSettings):
    """The settings of every service; a service adds its own."""

    model_config = SettingsConfigDict(
        env_prefix="BIASWATCH_",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        validate_by_name=True,
        use_attribute_docstrings=True,
    )

    nats_url: str = Field(
        default="nats://127.0.0.1:4222",
        validation_alias=AliasChoices("BIASWATCH_NATS_URL", "NATS_URL"),
    )
    """The address of the bus; several servers of one cluster with commas between them."""
    nats_seed_file: Path | None = None
    """The file with this service's nkey seed, if the bus uses keys."""
    nats_ca_file: Path | None = None
    """The file with the certificate authority of the bus, if the bus uses TLS."""
    secrets_dir: Path | None = None
    """A folder with one file per setting (`biaswatch_store_url`), instead of variables."""
    store_url: str | None = None
    """`postgresql://...` or `sqlite:///...`; without it, SQLite in the state directory."""
    store_statement_s: float = Field(default=60.0, gt=0)
    """How long PostgreSQL may take for one statement; it is tried again later."""
    state_dir: Path = Path.home() / ".biaswatch"
    """The folder of the bus's data and the store on a laptop."""
    health_host: str = "0.0.0.0"  # noqa: S104 - probes and Prometheus come from other machines
    """The address health and metrics are served on; `biaswatch up` takes 127.0.0.1 unless set."""
    health_port: Port = 9797
    """The port health and metrics are served on; 0 takes a free one. `biaswatch up --processes`
    uses the ports after it, too."""
    unready_s: float = Field(default=0.0, ge=0)
    """How long to be unready before draining; on Kubernetes, longer than a probe's period."""
    grace_s: float = Field(default=25.0, ge=0)
    """How long running work may take to finish; less than the pod's termination grace period."""
    ack_wait_s: float = Field(default=30.0, gt=0)
    """How long the bus waits for an acknowledgement before it delivers a record again."""
    wait_for_store_s: float = Field(default=0.0, ge=0)
    """How long to wait at the start for a store that is being prepared, or does not answer yet."""
    stop_with_parent: bool = False
    """Stop when the parent process ends."""
    telemetry_url: str | None = Field(default=None, pattern=r"^https?://[^\s@?#]+$")
    """Where the service's own traces and logs are sent by OTLP, such as http://otel-collector:4318;
    needs the extra `telemetry`. Without it, nothing is sent."""
    telemetry_headers_file: Path | None = None
    """YAML: the headers that address asks for, such as Authorization."""
    telemetry_share: float = Field(default=1.0, ge=0, le=1)
    """The share of records whose journeys are traced."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """The least severe entries that are logged."""

    @property
    def store(self) -> str:
        """The URL of the store: `store_url`, or SQLite in the state directory."""
        return self.store_url or f"sqlite:///{self.state_dir / 'store.db'}"


class _Secrets(BaseSettings):
    """The folder of setting files, which must be known before they are read."""

    model_config = SettingsConfigDict(env_prefix="BIASWATCH_", env_ignore_empty=True)

    secrets_dir: Path | None = None


def load_settings(kind: type[S], **values: Any) -> S:
    """Read the settings from the environment, and from files where a folder of them is named.

    Parameters
    ----------
    kind
        The settings of a service.
    values
        Fields that are given here; they win.

    Raises
    ------
    ConfigurationError
        A variable is missing or cannot be understood; the sentence names it, and never repeats its
        value, which may be a secret.
    """
    folder = _Secrets().secrets_dir
    if folder and not folder.is_dir():
        raise ConfigurationError(
            f"The folder {folder} does not exist. Mount the secrets there, or correct"
            " BIASWATCH_SECRETS_DIR."
        )
    try:
        return kind(_secrets_dir=folder, **values)
    except ValidationError as error:
        mistake = first_mistake(error)
        field = str(mistake.loc[0])  # the field or its alias
        raise ConfigurationError(
            f"The variable {_variable(kind, field)} is wrong: {mistake.sentence}."
        ) from None
    except SettingsError as error:
        named = re.search(r'field "(\w+)"', str(error))
        variable = _variable(kind, named[1]) if named else "of a list"
        raise ConfigurationError(
            f"The variable {variable} is wrong: it is read as JSON. Write a list as"
            """ '["first", "second"]', and a mapping as '{"name": "value"}'."""
        ) from None


def _variable(kind: type[BaseSettings], field: str) -> str:
    """Return the environment variable of a field, or of its alias."""
    prefix = str(kind.model_config.get("env_prefix", ""))
    return field if field.isupper() else f"{prefix}{field}".upper()


HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
EXPECTED = "a file of headers is a mapping of names to values"


def headers_in(path: Path) -> dict[str, str]:
    """Return the headers of a file; errors never contain values.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or a header is invalid.
    """
    text = read_text(path, "file of headers", ConfigurationError)
    fields = yaml_mapping(text or "{}", path, EXPECTED, ConfigurationError)
    for name, value in fields.items():
        if not HEADER_NAME.fullmatch(str(name)):
            raise ConfigurationError(f"{path}: one of the names is not a valid header name.")
        if not (isinstance(value, str) and value.isascii() and value.isprintable()):
            raise ConfigurationError(
                f"{path}: the value of {name} must be one line of plain ASCII."
            )
    return fields
