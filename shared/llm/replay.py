"""Recorded answers as a model.

The file is JSONL, with one answer per line:

    {"key": "set1_white_male", "scaffold": "direct", "repeat": 0, "text": "Rating: 3"}

`key` is that of the probe. Optional are `scaffold` (default: direct), `repeat` (0), `model`,
`finish_reason`, and `steps` for scaffolds with several calls:

    "steps": [{"name": "criterion:skills", "rating": 3}, {"name": "criterion:care", "text": "..."}]
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, NonNegativeInt, field_validator

from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.identity import Name
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked, json_lines, read_text
from biaswatch.shared.llm.port import (
    CallFailed,
    Failure,
    ModelAnswer,
    ModelCall,
    ModelEndpoint,
    RecordedStep,
)

RecordingKey = tuple[str, str, int]
MAX_FILE_BYTES = 256 * 1024 * 1024


class StepLine(BaseModel):
    """One step of a line."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    name: Name
    text: str = ""
    rating: float | None = None


class RecordedAnswer(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(extra="ignore")

    key: str
    text: str
    scaffold: str = "direct"
    repeat: NonNegativeInt = 0
    model: str | None = None
    finish_reason: str | None = "stop"
    steps: tuple[StepLine, ...] = ()

    @field_validator("steps")
    @classmethod
    def _names_differ(cls, steps: tuple[StepLine, ...]) -> tuple[StepLine, ...]:
        names = [step.name for step in steps]
        if len(set(names)) < len(names):
            raise ValueError("two steps have the same name")
        return steps

    @property
    def recording_key(self) -> RecordingKey:
        """The key of the answer: probe, scaffold and repeat."""
        return self.key, self.scaffold, self.repeat


class Replay:
    """Answers from one file, which is read at the first call.

    An unreadable file fails the probes of this target, with the reason; it does not end the
    process, which would end again at every start.
    """

    def __init__(self, name: str, folder: Path | None) -> None:
        self._name = name
        self._folder = folder
        self._answers: Mapping[RecordingKey, RecordedAnswer] = {}
        self._reading = asyncio.Lock()

    @classmethod
    def connect(cls, target: Target, connection: ModelEndpoint) -> Self:
        """Return the adapter for a target."""
        return cls(target.model, connection.recordings_dir)

    async def ask(self, call: ModelCall) -> ModelAnswer:
        """See `ChatModel.ask`."""
        if not self._answers:
            await self._read_once()
        recorded = self._answers.get(call.recording) if call.recording else None
        if recorded is None:
            raise CallFailed(Failure.NOT_RECORDED, f"No answer is recorded for {call.recording}.")
        if not recorded.text.strip():
            raise CallFailed(Failure.EMPTY, "The recorded answer is empty.")
        steps = tuple(RecordedStep(**step.model_dump()) for step in recorded.steps)
        return ModelAnswer(recorded.text, recorded.finish_reason, model=recorded.model, steps=steps)

    async def _read_once(self) -> None:
        async with self._reading:
            if self._answers:
                return
            try:
                self._answers = await asyncio.to_thread(self._read)
            except UsageError as error:
                raise CallFailed(Failure.NOT_RECORDED, str(error)) from None

    def _read(self) -> dict[RecordingKey, RecordedAnswer]:
        return read_recording(path_within(self._folder, self._name))

    async def close(self) -> None:
        """See `ChatModel.close`."""


def path_within(folder: Path | None, name: str) -> Path:
    """Return the file of recorded answers that a target names.

    Raises
    ------
    UsageError
        It is not a file in the folder, or too large.
    """
    if folder is None:
        raise UsageError(
            "No recorded answers are read here. To allow it, set"
            " BIASWATCH_GENERATOR_RECORDINGS_DIR to their folder for the generator."
        )
    within = folder.resolve()
    path = (within / name).resolve()
    if not path.is_relative_to(within) or not path.is_file():
        raise UsageError(
            "The target names no file of recorded answers in the folder that"
            " BIASWATCH_GENERATOR_RECORDINGS_DIR names."
        )
    if path.stat().st_size > MAX_FILE_BYTES:
        raise UsageError(f"The file {path.name} is larger than {MAX_FILE_BYTES >> 20} MiB.")
    return path


def read_recording(path: Path) -> dict[RecordingKey, RecordedAnswer]:
    """Read a file of recorded answers.

    Raises
    ------
    UsageError
        It cannot be read, a line is invalid (named with file, line and field), or two lines have
        the same key.
    """
    answers: dict[RecordingKey, RecordedAnswer] = {}
    for place, fields in json_lines(read_text(path, "recorded answers"), path):
        recorded = checked(RecordedAnswer, fields, place)
        if recorded.recording_key in answers:
            raise UsageError(f"{place}: {recorded.recording_key} is answered twice.")
        answers[recorded.recording_key] = recorded
    if not answers:
        raise UsageError(f"The file {path} holds no recorded answers.")
    return answers
