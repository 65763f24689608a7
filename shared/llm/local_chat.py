"""Chat with a model on this machine."""

import asyncio
from dataclasses import replace
from typing import Any, Self
from zlib import crc32

from biaswatch.shared.contracts import Target
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.llm.openai_formats import OpenAIChat
from biaswatch.shared.llm.port import (
    AnswerSchema,
    CallFailed,
    Failure,
    LocalServer,
    ModelAnswer,
    ModelCall,
    ModelEndpoint,
)
from biaswatch.shared.llm.replies import at

NO_TOOLS = "The chat template of this model shows no tools; use a model that calls tools."


class LocalChat(OpenAIChat):
    """Client of a llama.cpp server, which is started again where it has died."""

    is_llama = True

    def __init__(self, model: LocalServer, connection: ModelEndpoint) -> None:
        super().__init__(connection)
        self._model = model

    @classmethod
    def connect(cls, target: Target, connection: ModelEndpoint) -> Self:
        """Start the model of a target; raise ConfigurationError where that is not possible."""
        if connection.local_models is None:
            raise ConfigurationError(
                "This generator starts no models: that works on your own machine alone. In a"
                " deployment, name a server instead: openai:MODEL@http://HOST/v1."
            )
        model = connection.local_models.model(target.model)
        return cls(model, replace(connection, url=f"{model.address()}/v1"))

    async def ask(self, call: ModelCall) -> ModelAnswer:
        """See `ChatModel.ask`."""
        if not self._model.runs:
            try:
                await asyncio.to_thread(self._model.address)
            except ConfigurationError as error:
                raise CallFailed(Failure.UNREACHABLE, str(error)) from None
        if call.tools and not await self._takes_tools(call):
            raise CallFailed(Failure.BAD_REQUEST, NO_TOOLS)
        return await super().ask(call)

    async def _takes_tools(self, call: ModelCall) -> bool:
        """Tell whether the model's chat template shows tools; llama.cpp omits them otherwise."""
        properties = await self._exchange(call, "/props", None)
        return at(properties, "chat_template_caps", "supports_tools") is not False

    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        """Add a seed that differs between repeats: the same plan gets the same answers."""
        request = super()._request(call, schema)
        request.setdefault("seed", crc32(call.repeat_key.encode()))
        return request
