"""The settings of the gateway."""

from pydantic import Field, SecretStr

from shared.runtime.settings import Settings


class GatewaySettings(Settings):
    """The gateway's own settings, beside those of every service."""

    gateway_host: str = "127.0.0.1"
    """The address it listens on; beyond this machine only with tokens."""
    gateway_port: int = Field(default=8080, ge=0, le=65535)
    """The port it listens on; 0 takes a free one."""
    gateway_read_token: SecretStr | None = None
    """Allows reading; without any token, everybody on this machine may do everything."""
    gateway_run_token: SecretStr | None = None
    """Allows reading and starting runs, which spends money."""
    gateway_ingest_token: SecretStr | None = None
    """Allows sending production answers, and nothing else."""
    gateway_extractor_age_s: float = Field(default=60, gt=0)
    """How long after its last announcement an extractor still counts as running."""
