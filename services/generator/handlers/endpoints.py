"""Endpoints: adapter, rate limiter, metrics and price of each target."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pkgutil import resolve_name

from biaswatch.services.generator.domain.aimd import AimdBounds, AimdLimit
from biaswatch.services.generator.domain.model_calls import Price, Prices, price_of
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.providers import PROVIDERS, is_recorded
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.llm.local_models import SLOTS, LocalModels
from biaswatch.shared.llm.port import HOST_KEY_SOURCE, CallFailed, ChatModel, Failure, ModelEndpoint
from biaswatch.shared.telemetry import CALL_SECONDS, CALLS, CALLS_ALLOWED, CALLS_KEPT, COST, TOKENS

MAX_METRIC_NAMES = 50
OTHER_TARGETS = "others"
"""Label of targets beyond the first 50; bounds the cardinality of metrics."""

_metric_names: set[str] = set()


class RateLimiter:
    """Bounds the calls in flight; each call that ends adjusts the limit and admits the next."""

    def __init__(self, bounds: AimdBounds, *, clock: Callable[[], float]) -> None:
        self.limit = AimdLimit.of(bounds)
        self._clock = clock
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._next_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    def slot(self) -> "Slot":
        """Return a context that waits for a slot, holds it, and adjusts the limit at its end."""
        return Slot(self, self._clock)

    def learn(self, ended: BaseException | None, now: float, started: float) -> None:
        """Adjust the limit after a call that started at `started`."""
        if ended is None:
            self.limit = self.limit.answered(now, started=started, in_use=self._in_flight)
        elif isinstance(ended, CallFailed):
            if ended.why is Failure.RATE_LIMITED:
                self.limit = self.limit.limited(now, started=started)
            elif ended.why is Failure.SERVER_ERROR:
                self.limit = self.limit.faulted(now)

    async def enter(self) -> None:
        """Wait for a slot."""
        if not self._waiting and self._may_begin(now := self._clock()):
            self._begin(now)
            return
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(admitted)
        self._admit()
        try:
            await admitted
        except asyncio.CancelledError:
            if admitted.done() and not admitted.cancelled():  # both in the same moment
                self.leave()
            raise

    def leave(self) -> None:
        """Return a slot."""
        self._in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        """Start the calls that may start now; set a timer for the next one."""
        while self._waiting and self._in_flight < self.limit.allowed and not self._timer:
            now = self._clock()
            if now < self._next_at:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(self._next_at - now, self._on_timer)
                return
            admitted = self._waiting.popleft()
            if not admitted.done():
                self._begin(now)
                admitted.set_result(None)

    def _may_begin(self, now: float) -> bool:
        free = self._in_flight < self.limit.allowed and not self._timer
        return free and now >= self._next_at

    def _begin(self, now: float) -> None:
        self._in_flight += 1
        self._next_at = self.limit.next_start(now, self._next_at)

    def _on_timer(self) -> None:
        self._timer = None
        self._admit()


class Slot:
    """A slot of a rate limiter, held while the context lasts."""

    def __init__(self, limiter: RateLimiter, clock: Callable[[], float]) -> None:
        self._limiter, self._clock = limiter, clock
        self._started = 0.0

    async def __aenter__(self) -> None:
        """Wait for the slot."""
        await self._limiter.enter()
        self._started = self._clock()

    async def __aexit__(
        self, kind: type[BaseException] | None, ended: BaseException | None, _: object
    ) -> None:
        """Return the slot."""
        try:
            self._limiter.learn(ended, self._clock(), self._started)
        finally:
            self._limiter.leave()


def metric_name(target: Target) -> str:
    """Return the metric label of a target."""
    recorded = is_recorded(target.provider)
    name = target.provider if recorded else f"{target.provider}:{target.model}"[:96]
    if name not in _metric_names and len(_metric_names) >= MAX_METRIC_NAMES:
        return OTHER_TARGETS
    _metric_names.add(name)
    return name


class CallMetrics:
    """The metrics of calls to one target."""

    def __init__(self, target: Target) -> None:
        self._name = metric_name(target)
        # Looked up once, as every call is counted.
        self._answered = CALLS.labels(self._name, "answered")
        self._seconds, self._allowed = (
            CALL_SECONDS.labels(self._name),
            CALLS_ALLOWED.labels(self._name),
        )
        self._shown: int | None = None

    def tried(self, seconds: float, failure: Failure | None, allowed: int) -> None:
        """Count one attempt, and set the gauge of calls allowed in flight."""
        self.count_outcome(failure)
        self._seconds.observe(max(0.0, seconds))
        if allowed != self._shown:
            self._shown = allowed
            self._allowed.set(allowed)

    def count_outcome(self, failure: Failure | None) -> None:
        """Count a call by its outcome."""
        counted = CALLS.labels(self._name, failure.value) if failure else self._answered
        counted.inc()

    def paid(self, read: int | None, written: int | None, cost: float | None) -> None:
        """Count tokens and cost, as far as they are known."""
        TOKENS.labels(self._name, "read").inc(read or 0)
        TOKENS.labels(self._name, "written").inc(written or 0)
        COST.labels(self._name).inc(cost or 0.0)

    def cached(self) -> None:
        """Count a call whose stored answer was used."""
        CALLS_KEPT.labels(self._name).inc()


@dataclass(frozen=True)
class Endpoint:
    """One target: client, rate limiter, metrics and price."""

    model: ChatModel
    limiter: RateLimiter
    metrics: CallMetrics
    price: Price | None


def endpoint_of(
    target: Target,
    settings: GeneratorSettings,
    prices: Prices,
    clock: Callable[[], float],
    local_models: LocalModels | None = None,
) -> Endpoint:
    """Return the endpoint of a target; a local model is started, which takes seconds.

    Raises
    ------
    ConfigurationError
        Its key is missing, or a local model cannot be started.
    PoisonError
        No provider has this name.
    """
    provider = PROVIDERS.get(target.provider)
    if provider is None:
        raise PoisonError(f"There is no provider {target.provider}.")
    connect = resolve_name(f"biaswatch.shared.{provider.adapter}")
    slots = SLOTS if provider.local else settings.generator_slots
    bounds = AimdBounds(start=min(slots, settings.generator_start), most=slots)
    connection = replace(connection_to(target, settings), local_models=local_models)
    return Endpoint(
        model=connect(target, connection),
        limiter=RateLimiter(bounds, clock=clock),
        metrics=CallMetrics(target),
        price=price_of(target, prices),
    )


def connection_to(target: Target, settings: GeneratorSettings) -> ModelEndpoint:
    """Return address and key of a target's server; raise ConfigurationError without the key."""
    provider = PROVIDERS[target.provider]
    own_key = provider.key_variable and not target.base_url
    own_url = settings.simulator_url if provider.simulated else provider.url
    return ModelEndpoint(
        url=target.base_url or own_url or "",
        key=settings.key_for(target.provider, target.base_url),
        key_source=provider.key_source if own_key else HOST_KEY_SOURCE,
        structured=target.base_url is None,
        tell_repeat=provider.simulated,
        named_by_target=target.base_url is not None,
        private_hosts=settings.generator_private_hosts,
        recordings_dir=settings.generator_recordings_dir,
    )
