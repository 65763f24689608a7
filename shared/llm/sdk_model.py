"""What every adapter of an official SDK does alike: it takes a client, asks, and names failures."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from shared.llm.clients import Clients
from shared.llm.port import HOST_KEY_PLACE, PURPOSE_HEADER, Answer, Call, Form
from shared.llm.sdk_errors import outcomes

REPEAT_HEADER = "X-Biaswatch-Repeat"
ATTEMPT_HEADER = "X-Biaswatch-Attempt"

C = TypeVar("C")


@dataclass(frozen=True)
class Provider(Generic[C]):
    """An SDK, and the server it speaks to."""

    sdk: Any
    """The module."""
    client: Callable[..., C]
    root: type[Exception]
    """What all errors of the SDK are."""
    url: str
    """Said outright: the SDK would otherwise follow a variable of the environment, key and all."""
    key: str
    """The variable that holds the key."""


class SdkModel(ABC, Generic[C]):
    """Asks one server; the SDK's own retries are off, because retrying is the generator's."""

    provider: ClassVar[Provider[Any]]

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None = None,
        tell_repeat: bool = False,
        structured: bool = True,
    ) -> None:
        url = base_url or self.provider.url
        self._clients: Clients[C] = Clients(
            lambda: self.provider.client(api_key=api_key, base_url=url, max_retries=0)
        )
        self._key_place = HOST_KEY_PLACE if base_url else self.provider.key
        self._tell_repeat = tell_repeat
        self._structured = structured

    async def ask(self, call: Call) -> Answer:
        """See `ChatModel.ask`."""
        provider = self.provider
        with self._clients.one() as client:
            async with outcomes(provider.sdk, provider.root, self._key_place, call.timeout_s):
                reply = await self._endpoint(client)(
                    model=call.model,
                    timeout=call.timeout_s,
                    extra_headers=self._headers(call),
                    **self._request(call, call.form if self._structured else None),
                )
        return self._answer(reply)

    def _headers(self, call: Call) -> dict[str, str]:
        told = _told(call) if self._tell_repeat else {}
        return {PURPOSE_HEADER: call.purpose, **told}

    async def close(self) -> None:
        """See `ChatModel.close`."""
        await self._clients.close()

    @abstractmethod
    def _endpoint(self, client: C) -> Callable[..., Awaitable[Any]]:
        """Return what is called on the client."""

    @abstractmethod
    def _request(self, call: Call, form: Form | None) -> dict[str, Any]:
        """Return what is asked, in this wire format; `form` where the server is held to one."""

    @abstractmethod
    def _answer(self, reply: Any) -> Answer:
        """Read a reply; some servers send shapes the SDK does not check."""


def _told(call: Call) -> dict[str, str]:
    """Return the headers by which a simulated model tells calls apart."""
    return {REPEAT_HEADER: call.repeat_key, ATTEMPT_HEADER: str(call.attempt)}
