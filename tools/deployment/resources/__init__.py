"""The definitions of BiasMonitor, BiasSuite and BiasRun, made from what the gateway takes."""
