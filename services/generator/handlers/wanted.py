"""Which runs were cancelled: what nobody wants any more is not asked."""

from collections.abc import Callable, Sequence

from shared.contracts import Cancellation, Probe
from shared.runtime.blocking import BatchedLookup
from shared.store import Records


class Wanted:
    """Asks the store, for each run once in a while."""

    def __init__(self, records: Records, *, clock: Callable[[], float]) -> None:
        self._lookup = BatchedLookup(
            lambda runs: {run: list(records.read(Cancellation, run_id=run)) for run in set(runs)}
        )
        self._clock = clock
        self._seen: dict[str, tuple[float, Sequence[Cancellation]]] = {}

    async def __call__(self, probe: Probe) -> bool:
        """Tell whether the probe's run still wants its answer."""
        return not any(each.ends(probe) for each in await self._of(probe.run_id))

    async def _of(self, run_id: str) -> Sequence[Cancellation]:
        if run_id not in self._seen or self._stale(self._seen[run_id][0]):
            found = await self._lookup.get(run_id) or ()
            self._seen = {run: it for run, it in self._seen.items() if not self._stale(it[0])}
            self._seen[run_id] = (self._clock(), found)
        return self._seen[run_id][1]

    def _stale(self, at: float) -> bool:
        return self._clock() - at > FRESH_S
