"""The model under test: provider, model, where it is, and how it is asked."""

from functools import cached_property

from pydantic import JsonValue

from shared.contracts.identity import Name, derived_id, token_of
from shared.contracts.record import Part


class Target(Part):
    """One way to ask one model; another role or temperature makes another target."""

    name: Name
    """As the user wrote it: `provider:model[@base_url]`."""
    provider: Name
    """Which adapter asks it: openai, anthropic, replay, simulator."""
    model: Name
    """The provider's own name of the model, or a file for replay."""
    base_url: str | None = None
    """Where the server is, when it is not the provider's usual one."""
    parameters: dict[str, JsonValue] = {}
    """Sampling parameters, handed to the provider unchanged."""
    system_prompt: str | None = None
    """The role the model is put in; part of the plan, so it stays when texts are purged."""

    @cached_property
    def lane(self) -> str:
        """The target's word in subjects: readable, and different for different targets."""
        how = derived_id("target", self.name, self.parameters, self.system_prompt)
        return token_of(self.name) + "-" + how[:8]
