"""Published benchmarks: fetched from their authors, checked, turned into suites, and scored."""
