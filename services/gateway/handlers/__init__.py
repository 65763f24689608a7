"""What the gateway does with the store."""

from services.gateway.handlers.monitors import MonitorDesk
from services.gateway.handlers.runs import Desk, NotThereError

__all__ = ["Desk", "MonitorDesk", "NotThereError"]
