"""The BBQ study: rows become pairs of questions, answers become scores and flagged pairs."""
