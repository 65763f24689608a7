"""The settings of the operator."""

from pydantic import Field, SecretStr

from biaswatch.shared.runtime.settings import Settings


class OperatorSettings(Settings):
    """The operator's own settings; of those of every service it uses no bus and no store."""

    operator_gateway_url: str = Field(
        default="http://gateway:8080", pattern=r"^https?://[^\s@?#]+$"
    )
    """The gateway that is asked."""
    operator_token: SecretStr | None = None
    """The token that the gateway knows the operator by; of the role `run`."""
    operator_namespaces: tuple[str, ...] = Field(default=("biaswatch",), min_length=1)
    """The namespaces whose resources count, as JSON; the operator needs its Role in each."""
    operator_look_s: float = Field(default=15.0, gt=0)
    """How long after one look at a resource the next follows; changes are looked at at once."""
