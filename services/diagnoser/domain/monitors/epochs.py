"""Epochs: rounds answered by one version of the model and measured by one version of everything."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from shared.contracts import Completion, Monitor, Round, Run


def models_of(reported: Iterable[tuple[str | None, str | None]]) -> tuple[str, ...]:
    """Return what answered, by the names and fingerprints it gave; nothing where it gave none."""
    named = {" ".join(filter(None, each)) for each in reported}
    return tuple(sorted(named - {""}))


def closed_round(
    run: Run,
    monitor: Monitor,
    completion: Completion,
    models: Sequence[str],
    before: Round | None,
    at: datetime,
) -> Round:
    """Return the record of a closed round; it begins an epoch where something was exchanged."""
    instruments = tuple(sorted(f"{pin.name}@{pin.version}" for pin in run.extractors))
    changed = _changed(instruments, models, before)
    if before is None:
        epoch, began_with = 0, 0
    elif changed:
        epoch, began_with = before.epoch + 1, run.round or 0
    else:
        epoch, began_with = before.epoch, before.began_with
    known = () if changed or before is None else before.models
    return Round(
        tenant=run.tenant,
        purpose=run.purpose,
        at=at,
        monitor_id=monitor.monitor_id,
        monitor=monitor.name,
        round=run.round or 0,
        run_id=run.id,
        epoch=epoch,
        began_with=began_with,
        instruments=instruments,
        models=tuple(sorted({*known, *models})),
        changed=changed,
        closed_by=completion.closed_by,
        expected=completion.expected,
        arrived=completion.arrived,
    )


def _changed(
    instruments: Sequence[str], models: Sequence[str], before: Round | None
) -> tuple[str, ...]:
    if before is None:
        return ()
    new = sorted(set(models) - set(before.models)) if before.models else []
    found = [f"the model now calls itself {name}" for name in new]
    measured = sorted(set(instruments) - set(before.instruments))
    return (*found, *(f"it is now measured by {name}" for name in measured))
