"""Handlers of the diagnoser: closed runs, rounds of monitors, alarms."""

from services.diagnoser.handlers.monitor_metrics import MonitorMetrics
from services.diagnoser.handlers.monitor_rounds import CloseRounds
from services.diagnoser.handlers.on_completion import OnCompletion
from services.diagnoser.handlers.runs import DiagnoseRun
from services.diagnoser.handlers.webhooks import PostAlarm

__all__ = ["CloseRounds", "DiagnoseRun", "MonitorMetrics", "OnCompletion", "PostAlarm"]
