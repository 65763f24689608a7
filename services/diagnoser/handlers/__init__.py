"""What the diagnoser does: runs diagnosed, monitors' rounds added up, alarms told."""

from services.diagnoser.handlers.gauging import Gauges
from services.diagnoser.handlers.monitoring import Watch
from services.diagnoser.handlers.on_completion import OnCompletion
from services.diagnoser.handlers.runs import DiagnoseRun
from services.diagnoser.handlers.telling import Tell

__all__ = ["DiagnoseRun", "Gauges", "OnCompletion", "Tell", "Watch"]
