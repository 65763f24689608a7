"""Forms of pages that were sent: each is taken once, by whichever gateway it reaches first."""

from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import Engine, delete, select, update

from biaswatch.shared.store.engine import insert_new, write_transaction
from biaswatch.shared.store.run_tables import SENT_FORMS

KEPT = timedelta(days=1)
"""Longer than a page's form can be sent."""
ABANDONED_AFTER = timedelta(minutes=1)
"""Whoever has not done in that time what a form asks for has died over it."""
_COLUMNS = SENT_FORMS.c


class FormState(StrEnum):
    """What is known of a form that comes in."""

    FIRST = "first"
    """It is taken: whoever asked does what it says."""
    UNDER_WAY = "under way"
    """Somebody is doing it."""
    DONE = "done"


class SentForms:
    """Forms by keys of their own; those of all gateways lie in one table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def take(self, key: str, at: datetime) -> FormState:
        """Take a form that nobody has taken, and forget those that are old."""
        mine = _COLUMNS.key == key
        left = (mine, _COLUMNS.done.is_(False), _COLUMNS.at < at - ABANDONED_AFTER)
        with write_transaction(self._engine) as connection:
            connection.execute(delete(SENT_FORMS).where(_COLUMNS.at < at - KEPT))
            if insert_new(connection, SENT_FORMS, [{"key": key, "at": at, "done": False}]):
                return FormState.FIRST
            if connection.execute(update(SENT_FORMS).where(*left).values(at=at)).rowcount:
                return FormState.FIRST
            done = connection.scalar(select(_COLUMNS.done).where(mine))
        return FormState.DONE if done else FormState.UNDER_WAY

    def finish(self, key: str) -> None:
        """Note that it is done what a form asks for."""
        with write_transaction(self._engine) as connection:
            connection.execute(update(SENT_FORMS).where(_COLUMNS.key == key).values(done=True))

    def give_back(self, key: str) -> None:
        """Let a form be taken again: what it asks for could not be done."""
        with write_transaction(self._engine) as connection:
            connection.execute(delete(SENT_FORMS).where(_COLUMNS.key == key))
