"""Messages about alarms, and the outcomes of attempts to deliver them. Pure."""
