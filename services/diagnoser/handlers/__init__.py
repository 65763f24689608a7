"""What the diagnoser does: runs diagnosed, monitors' rounds added up, alarms told."""

from services.diagnoser.handlers.completing import Complete
from services.diagnoser.handlers.diagnosing import Diagnose
from services.diagnoser.handlers.gauging import Gauges
from services.diagnoser.handlers.monitoring import Watch
from services.diagnoser.handlers.telling import Tell

__all__ = ["Complete", "Diagnose", "Gauges", "Tell", "Watch"]
