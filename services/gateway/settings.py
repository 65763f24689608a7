"""The gateway's knobs."""

from pydantic import Field, SecretStr

from shared.runtime.settings import Settings


class GatewaySettings(Settings):
    """What can be set on the gateway, beyond what every service has."""

    gateway_host: str = "127.0.0.1"
    """The address it listens on; beyond this machine only with tokens."""
    gateway_port: int = Field(default=8080, ge=0, le=65535)
    """The port it listens on; 0 takes a free one."""
    gateway_read_token: SecretStr | None = None
    """Who shows it may read; without any token, everybody on this machine may."""
    gateway_run_token: SecretStr | None = None
    """Who shows it may also start runs, which spends money."""
    gateway_ingest_token: SecretStr | None = None
    """Who shows it may send production answers in, and nothing else."""
    gateway_extractor_age_s: float = Field(default=60, gt=0)
    """How long ago an extractor may last have said that it runs."""
