"""Reads the sources of a plan, each once."""

from collections.abc import Sequence
from pathlib import Path

from services.builder.domain.material import Document
from services.builder.domain.plan import FilesSource, Source
from services.builder.handlers.files import read_files
from shared.errors import UsageError


class ReadSources:
    """Reads sources; what two concepts share is read for the first and kept for the second."""

    def __init__(self) -> None:
        self._read: dict[str, Sequence[Document]] = {}

    async def read(self, source: Source, concept: str, home: Path) -> Sequence[Document]:
        """Give the documents of one source."""
        address = source.model_dump_json()
        if address not in self._read:
            self._read[address] = await self._of(source, concept, home)
        return self._read[address]

    async def _of(self, source: Source, concept: str, home: Path) -> Sequence[Document]:
        if isinstance(source, FilesSource):
            return read_files(source, home)
        raise UsageError(f"Sources of the kind {source.kind} are not read yet.")
