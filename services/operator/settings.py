"""The settings of the operator."""

from pydantic import Field, SecretStr

from biaswatch.shared.runtime.settings import Settings


class OperatorSettings(Settings):
    """Settings of the operator, which uses neither the bus nor the store."""

    operator_gateway_url: str = Field(
        default="http://gateway:8080", pattern=r"^https?://[^\s@?#]+$"
    )
    """Address of the gateway."""
    operator_token: SecretStr | None = None
    """The operator's token at the gateway, with the role `run`."""
    operator_namespaces: tuple[str, ...] = Field(default=("biaswatch",), min_length=1)
    """Namespaces of the resources, as JSON; the first is the operator's own."""
    operator_look_s: float = Field(default=15.0, gt=0)
    """Interval between reconciliations of a resource; changes are reconciled at once."""
    operator_lease_s: float = Field(default=15.0, ge=1)
    """Time after which another operator takes over from one that no longer responds."""
