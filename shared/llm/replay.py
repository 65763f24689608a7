"""Recorded answers served as a model: no key, no network, the same answer every time.

The file is JSONL, one recorded answer a line:

    {"key": "set1_white_male", "scaffold": "direct", "repeat": 0, "text": "Rating: 3"}

`key` is the probe's; `scaffold` (direct) and `repeat` (0) may be left out; `model` and
`finish_reason` may be added.
"""

import asyncio
from pathlib import Path

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from shared.errors import UsageError
from shared.files import checked, json_lines, read_text
from shared.llm.port import Answer, Call, CallFailed, Failure

Address = tuple[str, str, int]


class Recorded(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(extra="ignore")

    key: str
    text: str
    scaffold: str = "direct"
    repeat: NonNegativeInt = 0
    model: str | None = None
    finish_reason: str | None = "stop"

    @property
    def address(self) -> Address:
        """What it is the answer to."""
        return self.key, self.scaffold, self.repeat


class Replay:
    """Answers from one file."""

    def __init__(self, path: Path) -> None:
        self._answers = read_recording(path)

    async def ask(self, call: Call) -> Answer:
        """See `ChatModel.ask`."""
        recorded = self._answers.get(call.recording) if call.recording else None
        if recorded is None:
            raise CallFailed(Failure.NOT_RECORDED, f"No answer is recorded for {call.recording}.")
        if not recorded.text.strip():
            raise CallFailed(Failure.EMPTY, "The recorded answer is empty.")
        return Answer(recorded.text, recorded.finish_reason, model=recorded.model)

    async def close(self) -> None:
        """See `ChatModel.close`."""


class Recording:
    """Answers from a file that is opened when first asked.

    A file that cannot be read is a fault of this target alone: its probes have no answer, and say
    why. It must not end the process, which would end at every start for as long as they wait.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replay: Replay | None = None
        self._opening = asyncio.Lock()

    async def ask(self, call: Call) -> Answer:
        """See `ChatModel.ask`."""
        return await (await self._opened()).ask(call)

    async def _opened(self) -> Replay:
        async with self._opening:
            if self._replay is None:
                try:
                    self._replay = await asyncio.to_thread(Replay, self._path)
                except UsageError as error:
                    raise CallFailed(Failure.NOT_RECORDED, str(error)) from None
            return self._replay

    async def close(self) -> None:
        """See `ChatModel.close`."""


def read_recording(path: Path) -> dict[Address, Recorded]:
    """Read a file of recorded answers.

    Raises
    ------
    UsageError
        It cannot be read, a line is wrong (file, line and field are named), or two lines answer
        the same thing.
    """
    answers: dict[Address, Recorded] = {}
    for place, fields in json_lines(read_text(path, "recorded answers"), path):
        recorded = checked(Recorded, fields, place)
        if recorded.address in answers:
            raise UsageError(f"{place}: {recorded.address} is answered twice.")
        answers[recorded.address] = recorded
    if not answers:
        raise UsageError(f"The file {path} holds no recorded answers.")
    return answers
