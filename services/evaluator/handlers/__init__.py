"""I/O of the evaluator: rubric files, briefs and replies."""
