"""The order of completions: rounds one after the other, and no round behind a long diagnosis."""

import asyncio
import threading
from collections.abc import Sequence

from biaswatch.services.diagnoser.handlers import CompletionsInTurn
from biaswatch.shared.contracts import Completion, Record
from tests.support.records import make_completion

RUNS, ROUNDS = "ab", "cde"
"""The first letters of their ids."""


class Recorded:
    """A handler that waits where it is told to, and remembers in which order it was called."""

    def __init__(self) -> None:
        self.handled: list[str] = []
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.busy = 0

    def is_round(self, completion: Completion) -> bool:
        return completion.run_id[0] in ROUNDS

    def __call__(self, completion: Completion) -> Sequence[Record]:
        if not self.is_round(completion):
            self.busy += 1
            assert self.busy == 1
            self.begun.set()
            assert self.may_end.wait(timeout=30)
            self.busy -= 1
        self.handled.append(completion.run_id)
        return []


def completion(run_id: str) -> Completion:
    return make_completion(run_id=run_id * 32)


def test_a_round_does_not_wait_for_a_long_diagnosis() -> None:
    async def run(handler: Recorded) -> None:
        in_turn = CompletionsInTurn(handler, handler.is_round)
        studies = [asyncio.create_task(in_turn(completion(run))) for run in RUNS]
        await asyncio.to_thread(handler.begun.wait, 30)
        for round_run in ROUNDS:
            await in_turn(completion(round_run))
        assert handler.handled == [run * 32 for run in ROUNDS]
        handler.may_end.set()
        await asyncio.gather(*studies)

    handler = Recorded()
    asyncio.run(run(handler))
    assert [item[0] for item in handler.handled] == list(ROUNDS + RUNS)
