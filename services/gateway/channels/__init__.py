"""The operator's channels for alarms: which there are, what became of alarms, a trial."""
