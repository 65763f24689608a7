"""Partitions: streams number the tenants of their records, so that readers can take turns."""

from functools import lru_cache

PARTITIONS = 16
"""How many numbers there are; tenants with the same number wait for each other."""
EVERY_PARTITION = "*"
"""The partition of a durable that reads all of them in order of arrival."""
SUBJECT_TOKENS = 6
"""The tokens of a subject as it is published: root (2), kind, tenant, purpose, lane."""
FNV_OFFSET, FNV_PRIME, FNV_MASK = 2_166_136_261, 16_777_619, 0xFFFF_FFFF


@lru_cache(maxsize=1024)
def partition_of(tenant: str) -> int:
    """Return the partition in which nats-server keeps a tenant's records.

    References
    ----------
    FNV-1a with 32 bits, draft-eastlake-fnv; nats-server, `partition` in subject mappings.
    """
    digest = FNV_OFFSET
    for byte in tenant.encode():
        digest = (digest ^ byte) * FNV_PRIME & FNV_MASK
    return digest % PARTITIONS


def published_subject(stored: str) -> str:
    """Return the subject on which a record was published, by that under which a stream keeps it."""
    return ".".join(stored.split(".", SUBJECT_TOKENS)[:SUBJECT_TOKENS])
