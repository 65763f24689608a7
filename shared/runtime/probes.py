"""Jobs that check whether the bus and the database are available."""

from collections.abc import Callable

from biaswatch.shared.bus.jetstream import Connection
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.jobs import GuardedJob, Job, guarded

EVERY_S = 5.0
BUS = Job(Connection.probe, "ask the bus whether it is available", every_s=EVERY_S)


def of_store(service: str, probe: Callable[[], None]) -> GuardedJob[None]:
    """Return the job that runs a blocking check of the database."""

    async def ask(_: None) -> None:
        await in_thread(probe)

    [job] = guarded(service, [Job(ask, "ask the store whether it is available", every_s=EVERY_S)])
    return job
