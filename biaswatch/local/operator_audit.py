"""What an operator does at the store or the bus directly, written into the audit trail first."""

import getpass
import os
import socket
from collections.abc import Sequence
from datetime import UTC, datetime

from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts.audit import AuditAction, AuditedAct
from biaswatch.shared.runtime.auditing import AuditWriter
from biaswatch.shared.runtime.settings import Settings
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import configure_logs

OPERATOR_ROLE = "operator"


def this_user() -> str:
    """Return who types the command, as this machine knows them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user often has no name
        return f"user {os.getuid()}"


def operator_act(
    action: AuditAction, subject: str, *, tenant: str | None = None, **details: str
) -> AuditedAct:
    """Return what the operator at this machine does."""
    return AuditedAct(
        tenant=tenant,
        actor=this_user(),
        role=OPERATOR_ROLE,
        source=f"command line on {socket.gethostname()}",
        action=action,
        subject=subject,
        details=details,
    )


async def write_acts(
    settings: Settings, store: Store, publisher: Publisher | None, acts: Sequence[AuditedAct]
) -> None:
    """Append acts to the trail, before they are done.

    Raises
    ------
    TransientError
        The store is not available, so nothing may be done.
    """
    # Standard output belongs to the command; whoever wants the anchors there too sets the level.
    configure_logs(settings.log_level if "log_level" in settings.model_fields_set else "ERROR")
    await AuditWriter(store, publisher, now=lambda: datetime.now(UTC)).append(acts)
