"""The I/O of the evaluator: the rubric's files, briefs and replies."""
