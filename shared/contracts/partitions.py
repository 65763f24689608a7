"""Partitions: subjects number the tenants of records, so that readers can take turns."""

import zlib

PARTITIONS = 16
"""How many numbers there are; tenants with the same number wait for each other."""
EVERY_PARTITION = "*"
"""The partition of a durable that reads all of them in order of arrival."""
SUBJECT_TOKENS = 6
"""The tokens of a subject without partition: root (2), kind, tenant, purpose, lane."""


def partition_of(tenant: str) -> int:
    """Return the partition of a tenant's records."""
    return zlib.crc32(tenant.encode()) % PARTITIONS
