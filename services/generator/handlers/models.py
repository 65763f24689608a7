"""Which adapter asks which provider; an SDK is loaded when it is first needed."""

from pathlib import Path
from typing import Any

from services.generator.domain.pace import Bounds
from services.generator.domain.price import Prices, price_of
from services.generator.handlers.caller import Lane
from services.generator.handlers.gate import Gate
from services.generator.handlers.meter import Meter
from services.generator.settings import GeneratorSettings
from shared.contracts import Target
from shared.errors import PoisonError
from shared.llm.port import ChatModel
from shared.llm.replay import Recording


def lane_of(target: Target, settings: GeneratorSettings, prices: Prices, clock: Any) -> Lane:
    """Return all that one target needs."""
    bounds = Bounds(start=settings.generator_start, most=settings.generator_slots)
    return Lane(
        model=model_of(target, settings),
        gate=Gate(bounds, clock=clock),
        meter=Meter(target),
        price=price_of(target, prices),
        keeps=target.provider != "replay",
    )


def model_of(target: Target, settings: GeneratorSettings) -> ChatModel:
    """Return the adapter for a target.

    Raises
    ------
    ConfigurationError
        Its key is missing.
    """
    if target.provider == "replay":
        return Recording(Path(target.model))
    if target.provider == "http":
        return _http(target, settings)
    if target.provider == "simulator":
        from shared.llm.openai_chat import OpenAIChat

        return OpenAIChat(
            api_key="none", base_url=settings.simulator_url, tell_repeat=True, structured=True
        )
    return _of_sdk(target, settings)


def _of_sdk(target: Target, settings: GeneratorSettings) -> ChatModel:
    key = settings.key_for(target.provider, target.base_url)
    # Servers that only resemble the provider's may refuse what they do not know.
    own: dict[str, Any] = {"base_url": target.base_url, "structured": target.base_url is None}
    if target.provider == "openai":
        from shared.llm.openai_chat import OpenAIChat

        return OpenAIChat(api_key=key, **own)
    if target.provider == "openai-responses":
        from shared.llm.openai_responses import OpenAIResponses

        return OpenAIResponses(api_key=key, **own)
    if target.provider == "anthropic":
        from shared.llm.anthropic_messages import AnthropicMessages

        return AnthropicMessages(api_key=key, **own)
    raise PoisonError(f"No adapter asks the provider {target.provider}.")


def _http(target: Target, settings: GeneratorSettings) -> ChatModel:
    from shared.contracts.providers.http import Application
    from shared.llm.http_app import HttpApp

    application = Application.model_validate(target.parameters)
    key = settings.host_key(application.url)
    return HttpApp(application, key=key, private_hosts=settings.generator_private_hosts)
