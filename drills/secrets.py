"""A drill with a secret of every kind planted: no log, record, page, error or metric shows one."""

from pathlib import Path

from biaswatch.shared.store import migrate
from drills.outcome import Drill, Outcome
from tests.support.database_outages import own_postgresql
from tests.support.planted_secrets import survey_of


async def planted_secrets(folder: Path, _: int) -> Outcome:
    """Plant secrets, provoke errors, and search all that is shown and kept."""
    with own_postgresql() as server:
        server.create("secrets")
        migrate(server.url("secrets"))
        survey = await survey_of(folder, server.url("secrets"))
    faults = [f"The {name} is shown or kept." for name in survey.leaks()]
    if not survey.webhook_is_kept:
        faults.append("The webhook of the monitor was not found where it has to be.")
    note = f"{len(survey.secrets)} secrets, searched in {len(survey.texts):,} texts"
    return Outcome(len(survey.secrets), faults=tuple(faults), note=note)


DRILLS = (Drill("secrets", "secrets of every kind are planted", planted_secrets, 1),)
