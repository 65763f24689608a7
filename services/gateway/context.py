"""Objects that all features share: settings, store, bus, access rights and limits."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from biaswatch.services.gateway.auth import CallerAudit, Tokens
from biaswatch.services.gateway.bodies import IntakeSlots
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.clock import now as now
from biaswatch.shared.contracts import Brief, Cancellation, Label, LabelSample, Monitor, Run
from biaswatch.shared.errors import ArchivedError
from biaswatch.shared.requests.platform import PlatformTrouble
from biaswatch.shared.store import Store
from biaswatch.shared.store.archived_runs import ArchivedRun, ArchiveState

if TYPE_CHECKING:
    from biaswatch.services.gateway.sign_in.sessions import SignIn

Sent = Run | Cancellation | Brief | Monitor | Label | LabelSample
"""Records that routes publish."""
QueriesT = TypeVar("QueriesT")


@dataclass(frozen=True)
class IntakeBacklog:
    """Production answers of one tenant that the bus holds."""

    queued: int = 0
    """Answers that are not yet accounted for."""
    unread: int = 0
    """Answers of its partition that are not yet written or measured."""


def no_backlog(_: str) -> IntakeBacklog:
    """Return that nothing waits."""
    return IntakeBacklog()


@dataclass(frozen=True)
class GatewayContext:
    """Everything that a router is built from."""

    settings: GatewaySettings
    store: Store
    """The store in the scope of the caller: no route sees the records of another tenant."""
    publisher: Publisher
    tokens: Tokens
    sign_in: "SignIn | None"
    audit: CallerAudit
    backlog: Callable[[str], IntakeBacklog] = no_backlog
    """Returns what waits of a tenant."""
    troubles: Callable[[], list[PlatformTrouble]] = list
    """Returns what the gateway itself lacks: the bus, or files of answers."""
    watchers_ttl_s: float = 0.0
    """How long intake may rely on the monitors of a live system that it has read."""
    slots: IntakeSlots = field(default_factory=IntakeSlots)
    _queries: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def queries(self, queries_of: Callable[[Store], QueriesT]) -> QueriesT:
        """Return the queries of a class on the store; all routes share them and their caches."""
        if queries_of not in self._queries:
            self._queries[queries_of] = queries_of(self.store)
        return self._queries[queries_of]  # type: ignore[no-any-return]

    async def send(self, record: Sent) -> None:
        """Publish a record; a later one with the same id is another publication."""
        await self.publisher.publish(record, publication=int(record.at.timestamp() * 1000))

    def require_unarchived(self, run_id: str) -> None:
        """Raise ArchivedError if the answers of a run are archived; a dependency of routes."""
        if archived := self.store.archived_runs.find(run_id):
            raise ArchivedError(archived_sentence(archived))


def archived_sentence(run: ArchivedRun) -> str:
    """Return what became of the answers of a run, and how to get them back."""
    day = f"{run.at:%Y-%m-%d}"
    if run.state is ArchiveState.EXPIRED:
        return f"The answers were removed on {day}, as the retention says. Findings remain."
    return (
        f"The {run.answers:,} answers with their measurements were archived on {day};"
        f" findings remain. `biaswatch admin archive restore {run.run_id}` brings them back."
    )
