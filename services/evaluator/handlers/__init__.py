"""The evaluator's shell: files that are read, records that come and go."""
