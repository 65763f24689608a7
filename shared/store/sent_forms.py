"""Submitted forms of pages: each is handled once, by the first gateway it reaches."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import delete, select, update

from biaswatch.shared.store.database import Database, insert_new
from biaswatch.shared.store.monitoring_tables import SENT_FORMS

KEPT = timedelta(days=1)
"""Longer than a page's form is valid."""
ABANDONED_AFTER = timedelta(minutes=1)
"""Time after which the process that handles a form is considered dead."""
FORMS = SENT_FORMS.c


class FormState(StrEnum):
    """State of a submitted form."""

    FIRST = "first"
    """Taken by the caller, who handles it."""
    UNDER_WAY = "under way"
    """Being handled by another caller."""
    DONE = "done"


@dataclass(eq=False)
class SentForms:
    """Forms by their own keys, shared by all gateways."""

    db: Database

    def take(self, key: str, at: datetime) -> FormState:
        """Take a form that is not taken, and forget old ones."""
        abandoned = (FORMS.key == key, FORMS.done.is_(False), FORMS.at < at - ABANDONED_AFTER)
        with self.db.writing() as connection:
            connection.execute(delete(SENT_FORMS).where(FORMS.at < at - KEPT))
            if insert_new(connection, SENT_FORMS, [{"key": key, "at": at, "done": False}]):
                return FormState.FIRST
            if connection.execute(update(SENT_FORMS).where(*abandoned).values(at=at)).rowcount:
                return FormState.FIRST
            done = connection.scalar(select(FORMS.done).where(FORMS.key == key))
        return FormState.DONE if done else FormState.UNDER_WAY

    def finish(self, key: str) -> None:
        """Mark a form as done."""
        self.db.execute(update(SENT_FORMS).where(FORMS.key == key).values(done=True))

    def give_back(self, key: str) -> None:
        """Release a form whose action failed, so that it can be taken again."""
        self.db.execute(delete(SENT_FORMS).where(FORMS.key == key))
