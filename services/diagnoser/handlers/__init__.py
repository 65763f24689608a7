"""Handlers of the diagnoser: closed runs, rounds of monitors, labels."""

from biaswatch.services.diagnoser.handlers.monitor_metrics import MonitorMetrics
from biaswatch.services.diagnoser.handlers.monitor_rounds import CloseRounds
from biaswatch.services.diagnoser.handlers.runs import CompletionsInTurn, DiagnoseRun, OnCompletion

__all__ = ["CloseRounds", "CompletionsInTurn", "DiagnoseRun", "MonitorMetrics", "OnCompletion"]
