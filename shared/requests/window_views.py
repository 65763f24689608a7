"""Windows of production traffic as the API shows them: what became of each answer, the numbers."""

from enum import StrEnum

from pydantic import BaseModel

from biaswatch.shared.contracts import (
    AccountedWindow,
    AnswerAccounts,
    Described,
    Description,
    Window,
)


class WindowState(StrEnum):
    """How far a window of traffic is."""

    OPEN = "open"
    """Answers are still taken in for it."""
    MEASURED = "being measured"
    """The list of its members is fixed; not all of them are measured."""
    READ = "read"
    NOT_WATCHED = "not watched"
    """It lies before the first window that is watched, or the monitor was paused."""


class WindowView(BaseModel):
    """A window of traffic: what became of the answers that were sent in, and what it was like."""

    window: Window
    run_id: str
    """The run that holds its answers."""
    state: WindowState
    round: int | None = None
    """Its round, once it is read."""
    sent: int | None
    """How many answers were sent in: the sum of the accounts; null where they are."""
    accounts: AnswerAccounts | None
    """What became of them; null for a window that was read before this was kept."""
    answers: int | None = None
    """Its members, once it is read: the answers that were taken in time."""
    without_unit: int = 0
    """Members that name no user or conversation."""
    known_units: dict[str, int] = {}
    """By dimension: users that had entered the evidence of this epoch before."""
    mixed_units: dict[str, int] = {}
    """By dimension: users in two of the groups at once."""
    described: tuple[Described, ...] = ()
    """The numbers."""


def window_view(
    accounted: AccountedWindow | None, read: Description | None, *, watched: bool
) -> WindowView:
    """Return the view of a window from its accounts, and its description once it is read.

    `watched` tells whether it is not before the first window that the monitor watches.
    """
    if read is None:
        if accounted is None:
            raise ValueError("A window without accounts and description is not there.")
        accounts = accounted.accounts
        if accounted.fixed_at is None:
            goes_on, state = watched or accounts.waiting, WindowState.OPEN
        else:
            goes_on, state = accounts.waiting or not accounts.sent, WindowState.MEASURED
        if not goes_on:
            state = WindowState.NOT_WATCHED
        return WindowView(
            window=accounted.of.window,
            run_id=accounted.of.run_id,
            state=state,
            accounts=accounts,
            sent=accounts.sent,
        )
    known = accounted.accounts if accounted and read.accounts is not None else None
    # The description is written first: who looks in between sees its members wait no more.
    members = read.accounts.model_dump() if read.accounts else {}
    settled = known.model_copy(update={**members, "waiting": 0}) if known else None
    return WindowView(
        state=WindowState.READ,
        accounts=settled,
        sent=settled.sent if settled else None,
        **{name: getattr(read, name) for name in DESCRIBED},
    )


DESCRIBED = WindowView.model_fields.keys() - {"state", "sent", "accounts"}
