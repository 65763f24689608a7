"""From a file, a log or a run to statistics: what `diagnose` and `compare` compute."""
