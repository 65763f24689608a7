"""The I/O of the builder: plans, sources, questions to models, suites."""
