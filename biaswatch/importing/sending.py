"""How far a file was sent in, kept here until all of it is: the next time goes on there."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from biaswatch.shared.contracts import derived_id
from biaswatch.shared.errors import UsageError

FOLDER = "sending"


@dataclass
class SendingCursor:
    """How much of one file, as it is now, has arrived at one gateway for one live system."""

    kept_in: Path
    sent: int = 0
    """Answers of the file, from its beginning."""
    late: Counter[str] = field(default_factory=Counter)
    """Those of them that came too late, by monitor."""

    @classmethod
    def of(
        cls, state_dir: Path, file: Path, source: str, server: str | None, *, history: bool
    ) -> "SendingCursor":
        """Return how far it was sent; a file that has changed since is sent from its beginning."""
        about = file.stat()
        name = derived_id(
            FOLDER, str(file.resolve()), about.st_size, about.st_mtime_ns, source, server, history
        )
        cursor = cls(state_dir / FOLDER / f"{name}.json")
        try:
            found = json.loads(cursor.kept_in.read_bytes())
            cursor.sent, cursor.late = int(found["sent"]), Counter(found["late"])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # it was never sent in part, or nobody knows any more: each answer counts once
        return cursor

    def advance(self, answers: int, late: Counter[str]) -> None:
        """Note that so many more have arrived.

        Raises
        ------
        UsageError
            That cannot be kept.
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
                f"How far the file was sent cannot be kept in {self.kept_in.parent}"
                f" ({error.strerror}). Choose another folder with BIASWATCH_STATE_DIR."
            ) from None

    def forget(self) -> None:
        """Forget it: the same command again sends all."""
        self.sent, self.late = 0, Counter()
        self.kept_in.unlink(missing_ok=True)
