"""A pair whose replies are there, or are waited for no longer, becomes a verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from services.oracle.domain import JudgeReply, case_of, control, judged
from services.oracle.handlers.asking import judges_of
from shared.contracts import PairVerdict, Response, Run
from shared.store import Closing, Store
from shared.telemetry import log


class Closings:
    """What the oracle's gather emits; it reads the store, so it is called in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, closing: Closing) -> Sequence[PairVerdict]:
        """Return the verdict of a pair, or of the controls of a judge."""
        context: Mapping[str, Any] = closing.context
        [run] = self._store.records.get(Run, [closing.key.partition("/")[0]])
        asked = self._replies(context)
        again = f"again:{closing.opening}" if closing.opening else ""
        if lane := context.get("judge"):
            judges = (run.judging.judges if run.judging else ()) or run.targets
            judge = next(each for each in judges if each.lane == lane)
            return [control(run, judge, asked, closing.closed_at, again)]
        sides = {each.id: each for each in self._store.records.get(Response, context["sides"])}
        if len(sides) < len(context["sides"]):
            log("oracle").warning("answers of a pair are gone", run=run.id, pair=context["set"])
            return []
        a, b = (sides[id_] for id_ in context["sides"])
        case = case_of(run.id, context["set"], a, b)
        return [judged(case, run, judges_of(run, case), asked, closing.closed_at, again)]

    def _replies(self, context: Mapping[str, Any]) -> list[JudgeReply]:
        ids = [id_ for id_, *_ in context["asked"]]
        found = {each.id: each for each in self._store.records.get(Response, ids)}
        return [
            JudgeReply(name, judge, expected, found.get(id_))
            for id_, name, judge, expected in context["asked"]
        ]
