"""Cores, memory, streams and disk for a stream of production answers, from measured costs."""

from dataclasses import dataclass
from math import ceil, sqrt

from biaswatch.shared.bus.topology import StreamLimits, streams


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
    in_store_with_files_bytes: float = 1_060.0
    """Kept in the store where answers are in files: lists, what is waited for, users (PostgreSQL,
    `python -m benchmarks.traffic_writes 60000 --window 20000 --database postgresql --files`)."""
    written_in_store_with_files_bytes: float = 3_640.0
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


POOLED_CONNECTIONS = 15
"""The most connections to PostgreSQL of a process: a pool of 5, and 10 more while all are busy."""
DAY_S = 86_400
GIB = 2**30
BURST = 3.0
"""Times the mean, for an hour."""
USABLE = 0.7
"""Share of a core; beyond it, queues grow without bound in bursts of a minute."""
DEAD_S = 1800
"""An outage of the recorder that loses nothing."""
SERVERS = ("bus", "database")
"""What runs beside the services."""
ONE_CORE = ("bus",)
"""Services limited to one core in any cluster: a stream has one leader."""
STREAM_GIB = 2.0
"""The default size of each large stream in `biaswatch admin provision`."""
KEPT_DAYS = 7
"""Days that the store keeps answers before they are archived."""
WRITES_OF_A_DISK = 400e6 / 4
"""Bytes a second that an ordinary cloud volume sustains, and a quarter of it for the store."""
WRITTEN_PER_KEPT = 5.0
"""Physical bytes of the store, its log included, for each that is kept: 4.6 on SQLite in a store of
200,000 answers, and less on PostgreSQL (`python -m benchmarks.traffic_writes 200000 --window
40000`)."""


@dataclass(frozen=True)
class ScaledTraffic:
    """A stream of answers, and what is turned on for it."""

    answers_a_day: float
    sampled: float = 1.0
    """The share of units that is sent in: each unit wholly, or not at all."""
    platforms: int = 1
    """Platforms that answers are spread over, each with its own bus."""
    stream_gib: float = STREAM_GIB
    in_files: bool = False
    """Answers are written to files at once, not as rows."""
    costs: AnswerCosts = MEASURED

    @property
    def mean_rate(self) -> float:
        """Answers a second that are taken in, over a day."""
        return self.answers_a_day * self.sampled / DAY_S

    @property
    def burst_rate(self) -> float:
        """Answers a second in the busiest hour."""
        return BURST * self.mean_rate


@dataclass(frozen=True)
class ScaleNeeds:
    """The needs of a stream of answers."""

    cores: dict[str, float]
    """By service, in the busiest hour."""
    replicas: dict[str, int]
    """Processes of one core each that are never busier than `USABLE`."""
    memory_gib: float
    backlog_gib: float
    """On the largest stream, when the recorder was down for half an hour of the busiest hour."""
    stored_gib: float
    """In the store, of `KEPT_DAYS` days."""
    archived_gib_a_year: float
    written_mb_a_second: float
    """By the store's disk, in the busiest hour."""
    bus_gib: float
    """Reserved by the streams, of one replica."""

    @property
    def connections(self) -> int:
        """The most connections to the database."""
        services = sum(self.replicas.values()) - sum(self.replicas[name] for name in SERVERS)
        return POOLED_CONNECTIONS * services

    @property
    def total_cores(self) -> float:
        """Cores of all services, in the busiest hour."""
        return sum(self.cores.values())


def needs_of(traffic: ScaledTraffic) -> ScaleNeeds:
    """Return what a stream of answers takes."""
    costs, rate = traffic.costs, traffic.burst_rate
    cores = {name: rate * us / 1e6 for name, us in costs.services.items()}
    replicas = {name: max(1, ceil(busy / USABLE)) for name, busy in cores.items()}
    replicas["planner"] = 1
    kept, written = costs.stored_bytes, costs.stored_bytes * WRITTEN_PER_KEPT
    if traffic.in_files:
        kept, written = costs.in_store_with_files_bytes, costs.written_in_store_with_files_bytes
    return ScaleNeeds(
        cores=cores,
        replicas=replicas,
        memory_gib=sum(MEMORY_MIB[name] * count for name, count in replicas.items()) / 1024,
        backlog_gib=rate * DEAD_S * costs.response_bytes / traffic.platforms / GIB,
        stored_gib=traffic.mean_rate * DAY_S * KEPT_DAYS * kept / GIB,
        archived_gib_a_year=traffic.mean_rate * DAY_S * 365 * costs.archived_bytes / GIB,
        written_mb_a_second=rate * written / 1e6,
        bus_gib=sum(stream.max_bytes for stream in streams(_limits(traffic))) / GIB,
    )


def _limits(traffic: ScaledTraffic) -> StreamLimits:
    return StreamLimits(stream_bytes=int(traffic.stream_gib * GIB))


def load_of(traffic: ScaledTraffic) -> dict[str, float]:
    """Return how much of each limit is used: beyond 1, it is passed. The first are the largest."""
    needs = needs_of(traffic)
    used = {
        f"one core of the {name}'s leader": needs.cores[name] / traffic.platforms / USABLE
        for name in ONE_CORE
    }
    used["one recorder"] = needs.cores["recorder"] / USABLE
    used["one gateway"] = needs.cores["gateway"] / USABLE
    used["a stream while the recorder is down"] = needs.backlog_gib / traffic.stream_gib
    used["the store's disk"] = needs.written_mb_a_second * 1e6 / WRITES_OF_A_DISK
    return dict(sorted(used.items(), key=lambda item: -item[1]))


def most_answers(limit: str, *, in_files: bool = False) -> float:
    """Return how many answers a day just pass a limit of `load_of`."""
    a_million = load_of(ScaledTraffic(1e6, in_files=in_files))[limit]
    return 1e6 / a_million


def lost_precision(sampled: float) -> float:
    """Return by how much intervals widen where a share of units is drawn.

    Each unit is in or out by a hash of its name, with the same probability. A sample of units is
    what evidence over units is about, so that means and gaps stay unbiased without weights, and
    alarms keep their level; the standard error grows with the root of the units that are missing.

    Raises
    ------
    ValueError
        The share is not in (0, 1].

    References
    ----------
    Cochran (1977), Sampling Techniques, chapter 9: units drawn whole.
    """
    if not 0 < sampled <= 1:
        raise ValueError(f"a share of units is in (0, 1], not {sampled:g}")
    return 1 / sqrt(sampled)
