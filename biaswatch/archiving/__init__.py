"""The archive: answers of runs that are over, as Parquet in a folder or in an object store.

Three datasets, each partitioned by tenant, source and day as Hive does it. `records` holds every
record as the store had it, so that it can be written back. `texts` holds what people and models
wrote, and nothing else, so that a purge reaches it. `numbers` has a row an answer with its groups
and measurements, as `biaswatch export` writes them, for whoever computes on them elsewhere.
"""
