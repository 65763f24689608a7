"""What a completion leads to: the diagnosis of a run, or the evidence of a monitor's round."""

from collections.abc import Sequence

from services.diagnoser.handlers.monitor_rounds import CloseRounds
from services.diagnoser.handlers.runs import DiagnoseRun
from shared.contracts import Completion, Features, Record, Run
from shared.errors import TransientError
from shared.store import Store

SOON_S = 0.2


class OnCompletion:
    """The handler of completions; it computes, so it runs in a thread."""

    def __init__(self, store: Store, diagnose: DiagnoseRun, watch: CloseRounds) -> None:
        self._store = store
        self._diagnose = diagnose
        self._watch = watch

    def __call__(self, completion: Completion) -> Sequence[Record]:
        """Return what follows from the closing of a run.

        Raises
        ------
        TransientError
            The recorder has not yet written everything the run closed with.
        """
        there = self._store.records.count(Features, run_id=completion.run_id)
        if there < completion.arrived:
            raise TransientError(
                f"{completion.arrived - there} features of the run are not in the store yet.",
                retry_after_s=SOON_S,
            )
        [run] = self._store.records.get(Run, [completion.run_id])
        if run.monitor_id is None:
            return self._diagnose(completion, run)
        return self._watch(completion, run)
