"""The names of the resources."""

GROUP, VERSION = "biaswatch.io", "v1alpha1"
MONITORS, SUITES, RUNS = "biasmonitors", "biassuites", "biasruns"
FINALIZER = f"{GROUP}/operator"
"""While a resource has it, it is not gone: the gateway has still to be asked."""
