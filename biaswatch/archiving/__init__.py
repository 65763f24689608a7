"""The archive: answers of finished runs, as Parquet in a folder or an object store.

Three datasets, each with Hive partitions by tenant, source and day. `records` has every record as
the store had it, so that it can be restored. `texts` has everything that people and models wrote,
so that a purge reaches it. `numbers` has a row per answer with its groups and measurements, as
`biaswatch export` writes them, for analyses elsewhere.
"""
