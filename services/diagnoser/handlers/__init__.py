"""Handlers of the diagnoser: closed runs, rounds of monitors, alarms on their way to channels."""

from services.diagnoser.handlers.monitor_metrics import MonitorMetrics
from services.diagnoser.handlers.monitor_rounds import CloseRounds
from services.diagnoser.handlers.on_completion import CompletionsInTurn, OnCompletion
from services.diagnoser.handlers.runs import DiagnoseRun

__all__ = ["CloseRounds", "CompletionsInTurn", "DiagnoseRun", "MonitorMetrics", "OnCompletion"]
