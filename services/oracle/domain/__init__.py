"""What the oracle decides without asking anybody: pairs, questions, verdicts."""
