"""Search for disparities under a budget: hypotheses, evidence and allocation."""
