"""The computations of `diagnose` and `compare`, on a file, a log or a run."""
