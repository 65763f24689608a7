"""Suites from plans: keywords, sources, prompts, branches and baselines."""
