"""Pure logic of the evaluator: prompts, rubric, checks and evaluations."""
