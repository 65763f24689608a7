"""Measured costs of one production answer, each with the command that measured it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AnswerCosts:
    """CPU in microseconds and bytes of an answer of about 700 characters with two extractors."""

    gateway_us: float = 294.0
    """HTTP, intake and the stage behind it, with the bus: 3,400 a second of one core
    (`python -m benchmarks.ingestion` without HTTP and bus: 5,300)."""
    extractor_us: float = 127.0
    """7,900 a second, both extractors without models (`python -m benchmarks.pipeline`)."""
    recorder_us: float = 227.0
    """4,400 a second into SQLite (`python -m benchmarks.pipeline`)."""
    diagnoser_us: float = 84.0
    """11,900 a second (`python -m benchmarks.pipeline`)."""
    bus_us: float = 149.0
    """6,700 a second through every stage (`python -m benchmarks.pipeline`)."""
    database_us: float = 250.0
    """Assumed, of a PostgreSQL server: about what a recorder spends on the other side."""
    exchange_bytes: float = 1_100.0
    """On the stream EXCHANGES, as encoded, with 60 bytes of headers (tests/unit/test_scale.py)."""
    response_bytes: float = 1_610.0
    """On RESPONSES, as above."""
    features_bytes: float = 890.0
    """On FEATURES, of two extractors, as above."""
    stored_bytes: float = 4_680.0
    """Kept in the store (`python -m benchmarks.lake_writes`)."""
    archived_bytes: float = 440.0
    """As Parquet, also as it came (`python -m benchmarks.lake_writes`)."""
    beside_files_bytes: float = 1_060.0
    """Kept in the store where answers are in files: lists, what is waited for, users (PostgreSQL,
    `python -m benchmarks.traffic_writes 60000 --window 20000 --database postgresql --files`)."""
    written_beside_files_bytes: float = 3_640.0
    """Given to the store's disk for that, the last window of the same run."""

    @property
    def services(self) -> dict[str, float]:
        """CPU in microseconds, by service."""
        return {
            "gateway": self.gateway_us,
            "extractor": self.extractor_us,
            "recorder": self.recorder_us,
            "diagnoser": self.diagnoser_us,
            "bus": self.bus_us,
            "database": self.database_us,
        }


MEASURED = AnswerCosts()
MEMORY_MIB = {
    "gateway": 128, "extractor": 96, "recorder": 128, "diagnoser": 512, "planner": 160, "bus": 512,
    "database": 1024,
}  # fmt: skip
"""Resident, of one replica: docs/operations.md, rounded up; of bus and database, assumed."""
