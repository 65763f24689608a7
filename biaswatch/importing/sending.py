"""Progress of sending a file, so that a stopped command can be resumed."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from biaswatch.shared.contracts import derived_id
from biaswatch.shared.errors import UsageError

FOLDER = "sending"


@dataclass
class SendingCursor:
    """Progress of sending one version of a file to one gateway, for one live system."""

    kept_in: Path
    sent: int = 0
    """Number of answers sent, from the start of the file."""
    late: Counter[str] = field(default_factory=Counter)
    """Number of answers that arrived too late, by monitor."""

    @classmethod
    def of(
        cls, state_dir: Path, file: Path, source: str, server: str | None, *, history: bool
    ) -> "SendingCursor":
        """Return the stored progress; a file that has changed starts from the beginning."""
        status = file.stat()
        name = derived_id(
            FOLDER, str(file.resolve()), status.st_size, status.st_mtime_ns, source, server, history
        )
        cursor = cls(state_dir / FOLDER / f"{name}.json")
        try:
            stored = json.loads(cursor.kept_in.read_bytes())
            cursor.sent, cursor.late = int(stored["sent"]), Counter(stored["late"])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # no stored progress: sending again is harmless, since answers count once
        return cursor

    def advance(self, answers: int, late: Counter[str]) -> None:
        """Record that more answers have arrived.

        Raises
        ------
        UsageError
            The progress cannot be stored.
        """
        self.sent += answers
        self.late.update(late)
        new = self.kept_in.with_suffix(".new")
        try:
            self.kept_in.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(json.dumps({"sent": self.sent, "late": self.late}))
            new.replace(self.kept_in)
        except OSError as error:
            raise UsageError(
                f"The progress of sending cannot be stored in {self.kept_in.parent}"
                f" ({error.strerror}). Choose another folder with BIASWATCH_STATE_DIR."
            ) from None

    def forget(self) -> None:
        """Discard the progress, so that the same command sends all answers again."""
        self.sent, self.late = 0, Counter()
        self.kept_in.unlink(missing_ok=True)
