"""The routes: the stream, the producers and the consumers of each kind of record.

Streams, durables, permissions, tables and documents are all derived from this one table.
"""

from dataclasses import dataclass
from functools import lru_cache

from biaswatch.shared.contracts.alarm import Alarm
from biaswatch.shared.contracts.answer_accounts import Description
from biaswatch.shared.contracts.assessment import Assessment
from biaswatch.shared.contracts.audit import AuditAnchor
from biaswatch.shared.contracts.brief import Brief
from biaswatch.shared.contracts.completion import Cancellation, Completion
from biaswatch.shared.contracts.correction import Correction
from biaswatch.shared.contracts.diagnosis import Diagnosis
from biaswatch.shared.contracts.evaluation import Evaluation
from biaswatch.shared.contracts.evidence import Round
from biaswatch.shared.contracts.identity import BEGINNING_HEX_DIGITS, derived_id, id_beginning_with
from biaswatch.shared.contracts.label import Label, LabelSample
from biaswatch.shared.contracts.monitor import Monitor
from biaswatch.shared.contracts.pair_verdict import PairVerdict
from biaswatch.shared.contracts.partitions import EVERY_PARTITION, PARTITIONS, partition_of
from biaswatch.shared.contracts.probe import Probe
from biaswatch.shared.contracts.record import Purpose, Record
from biaswatch.shared.contracts.response import Features, Response
from biaswatch.shared.contracts.round_evidence import RoundEvidence
from biaswatch.shared.contracts.run import ExtractorPin, Run
from biaswatch.shared.contracts.traffic import Exchange
from biaswatch.shared.errors import PoisonError

ROOT = "bias.v1"


@dataclass(frozen=True)
class Route:
    """The stream, producers and consumers of one kind of record."""

    record: type[Record]
    stream: str
    producers: tuple[str, ...]
    consumers: tuple[str, ...]
    by_lane: bool = False
    """True if each lane has a durable of its own, so that a slow one blocks no other."""
    queue: bool = False
    """True if an acknowledged record is removed, and a full stream refuses new ones."""
    followers: tuple[str, ...] = ()
    """The services that see how far the consumers are, and none of the records."""
    where_chosen: tuple[str, ...] = ()
    """The consumers that read only where the operator has chosen so: their lag says nothing."""
    judgings: tuple[str, ...] = ()
    """These consumers receive only records with purpose `judge`."""
    many: bool = False
    """True for about one record for every answer, so that the stream is large."""
    bundled: bool = False
    """True if records published together on one subject go in one message."""
    from_outside: bool = False
    """True if the key of a live system, which is not a service, may publish it."""
    append_only: bool = False
    """True if messages are never removed by age or by hand: not even by the operator's key."""
    fair: tuple[str, ...] = ()
    """The consumers that take turns between tenants; subjects then end with a partition."""

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects of this record, for every tenant, purpose and lane.

        Those without partition are of earlier versions, and of live systems that do not add it.
        """
        return (self.filter(), f"{self.filter()}.*") if self.fair else (self.filter(),)

    @property
    def every_subject(self) -> str:
        """All subjects of this record in one pattern."""
        return f"{ROOT}.{self.record.kind}.>"

    def partitions(self, consumer: str) -> tuple[str, ...]:
        """Return the partitions for which a consumer has a durable, besides the one without."""
        if not self.fair:
            return ()
        numbers = tuple(map(str, range(PARTITIONS)))
        return numbers if consumer in self.fair else (EVERY_PARTITION,)

    def durable(self, consumer: str, lane: str | None = None, partition: str | None = None) -> str:
        """Return the name of the consumer's durable."""
        number = "all" if partition == EVERY_PARTITION else partition
        return "-".join(filter(None, (consumer, number, self.record.kind, lane)))

    def durables(self, consumer: str) -> tuple[str, ...]:
        """Return the names of all durables of a consumer without lanes."""
        numbers = self.partitions(consumer)
        return self.durable(consumer), *(self.durable(consumer, partition=n) for n in numbers)

    def filter_of(
        self, consumer: str, lane: str | None = None, partition: str | None = None
    ) -> str:
        """Return the subjects of what one consumer reads, in one lane or in all."""
        subjects = self.filter(lane, purpose=Purpose.JUDGE if consumer in self.judgings else "*")
        return subjects if partition is None else f"{subjects}.{partition}"

    def filter(self, lane: str | None = None, *, tenant: str = "*", purpose: str = "*") -> str:
        """Return the subjects of this record in one lane, of one tenant or purpose, or of all."""
        return f"{ROOT}.{self.record.kind}.{tenant}.{purpose}.{lane or '*'}"


ROUTES = (
    Route(
        Run, "RUNS", producers=("gateway", "planner", "searcher"), consumers=("planner", "recorder")
    ),
    Route(
        Cancellation,
        "CANCELLATIONS",
        producers=("gateway", "generator"),
        consumers=("planner", "oracle", "recorder"),
    ),
    Route(
        Probe,
        "PROBES",
        producers=("planner", "oracle", "evaluator", "builder"),
        consumers=("generator",),
        by_lane=True,
        queue=True,
        many=True,
    ),
    Route(
        Response,
        "RESPONSES",
        producers=("generator", "gateway", "planner"),
        consumers=("extractor", "recorder", "oracle", "evaluator"),
        followers=("gateway",),  # the past is not sent in faster than it is written
        judgings=("oracle", "evaluator"),
        many=True,
        bundled=True,
        fair=("extractor", "recorder"),
    ),
    Route(
        Exchange,
        "EXCHANGES",
        producers=("gateway",),
        consumers=("gateway",),
        # A window is read once all of before it is handled; intake asks senders to wait.
        followers=("planner", "gateway"),
        queue=True,
        many=True,
        from_outside=True,
        fair=("gateway",),
    ),
    Route(
        Features,
        "FEATURES",
        producers=("extractor",),
        consumers=("planner", "recorder", "gateway"),
        where_chosen=("gateway",),  # it sends evaluations into traces
        many=True,
        bundled=True,
        fair=("planner", "recorder"),
    ),
    Route(
        Completion,
        "COMPLETIONS",
        producers=("planner",),
        consumers=("diagnoser", "oracle", "recorder"),
    ),
    Route(Diagnosis, "DIAGNOSES", producers=("diagnoser",), consumers=("recorder",)),
    Route(Assessment, "ASSESSMENTS", producers=("diagnoser",), consumers=("recorder",)),
    Route(PairVerdict, "VERDICTS", producers=("oracle",), consumers=("recorder",), many=True),
    Route(Brief, "BRIEFS", producers=("gateway",), consumers=("evaluator", "recorder")),
    Route(Evaluation, "EVALUATIONS", producers=("evaluator",), consumers=("recorder",)),
    Route(Monitor, "MONITORS", producers=("gateway",), consumers=("planner", "recorder")),
    Route(Round, "ROUNDS", producers=("diagnoser",), consumers=("recorder",)),
    Route(RoundEvidence, "ROUND_EVIDENCE", producers=("diagnoser",), consumers=("recorder",)),
    Route(Description, "DESCRIPTIONS", producers=("diagnoser",), consumers=("recorder",)),
    Route(LabelSample, "LABEL_SAMPLES", producers=("gateway",), consumers=("recorder",)),
    Route(Label, "LABELS", producers=("gateway",), consumers=("diagnoser", "recorder")),
    Route(Correction, "CORRECTIONS", producers=("diagnoser",), consumers=("recorder",)),
    Route(Alarm, "ALARMS", producers=("diagnoser",), consumers=("notifier", "recorder")),
    Route(AuditAnchor, "AUDIT_ANCHORS", producers=("gateway",), consumers=(), append_only=True),
)

_BY_RECORD = {route.record: route for route in ROUTES}
_BY_KIND = {route.record.kind: route for route in ROUTES}


def route_of(record: type[Record]) -> Route:
    """Return the route of a kind of record."""
    return _BY_RECORD[record]


def record_of(kind: str) -> type[Record]:
    """Return the kind of record that has this name."""
    return _BY_KIND[kind].record


def response_id_of(probe: Probe) -> str:
    """Return the id that the response to a probe will have."""
    return probe.response_id


def features_id_of(probe: Probe, extractor: str, version: str) -> str:
    """Return the id that an extractor's features of a probe's response will have."""
    response_id = response_id_of(probe)
    id_ = _features_id(probe.tenant, probe.purpose, response_id, extractor, version)
    return id_beginning_with(probe.id_beginning, id_)


def _features_id(
    tenant: str, purpose: Purpose, response_id: str, extractor: str, version: str
) -> str:
    """Return the id before its beginning is put into order."""
    return derived_id(Features.kind, tenant, purpose, response_id, extractor, version)


def member_features_id(run: Run, response_id: str, pin: ExtractorPin) -> str:
    """Return the id that features of a member of a window have; its own id tells their beginning.

    A member from before ids were in order begins like the run once in four thousand million.
    """
    id_ = _features_id(run.tenant, run.purpose, response_id, pin.name, pin.version)
    in_order = response_id.startswith(run.id[:BEGINNING_HEX_DIGITS])
    return id_beginning_with(response_id[: 2 * BEGINNING_HEX_DIGITS] if in_order else "", id_)


def subject_of(record: Record) -> str:
    """Return the subject one record travels on."""
    return _subject(record.kind, record.tenant, record.purpose, record.lane)


@lru_cache(maxsize=4096)
def _subject(kind: str, tenant: str, purpose: str, lane: str) -> str:
    subject = f"{ROOT}.{kind}.{tenant}.{purpose}.{lane}"
    return f"{subject}.{partition_of(tenant)}" if _BY_KIND[kind].fair else subject


def check_subject(record: Record, subject: str) -> None:
    """Refuse a record that came on the subject of another tenant, or of another purpose.

    The bus lets a key publish on its own tenant's subjects and reads no record, so what a record
    says of itself counts only where its subject says the same.

    Raises
    ------
    PoisonError
        They differ.
    """
    sender, came = (record.tenant, record.purpose), _sender_of(subject)
    if sender != came:
        raise PoisonError(
            f"This {record.kind} says {'.'.join(sender)} of itself, and came on the subject of"
            f" {'.'.join(came)}."
        )


@lru_cache(maxsize=1024)
def _sender_of(subject: str) -> tuple[str, ...]:
    """Return tenant and purpose by a subject: many records in a row come on the same."""
    return tuple(subject.removeprefix(f"{ROOT}.").split(".")[1:3])
