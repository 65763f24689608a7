"""How alarms are told: the operator's channels, the words for each medium, when to try again."""
