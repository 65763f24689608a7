"""One tenant's records of every kind that a gateway shows, in which every text is marked."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from biaswatch.shared.contracts import (
    RUN_GATHER,
    Alarm,
    Brief,
    DrawnAnswer,
    ExtractorStatus,
    LabelSample,
    Message,
    Monitor,
    PairVerdict,
    PastTraffic,
    Record,
    Response,
    Role,
    Run,
    Suite,
    SuiteProbe,
    Twins,
    WatchedFeature,
    WatchedPair,
    probes_of,
)
from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery, ChannelStatus, DeliveryState
from biaswatch.shared.contracts.evidence_rows import round_evidence
from biaswatch.shared.contracts.waiting_calls import PausedTarget
from biaswatch.shared.store import Store
from biaswatch.shared.store.database import Scope
from tests.support.records import (
    AT,
    make_alarm,
    make_assessment,
    make_brief,
    make_completion,
    make_correction,
    make_description,
    make_diagnosis,
    make_evaluation,
    make_evidence,
    make_features,
    make_increment,
    make_label,
    make_label_sample,
    make_monitor,
    make_plan,
    make_round,
    make_run,
    make_target,
    make_traffic_monitor,
    make_verdict,
)
from tests.support.searched import small_search, small_space

TEXT = "words-of-a-user"
"""What every text holds, so that a reply which shows any holds it too."""
NOW = datetime(2026, 2, 1, tzinfo=UTC)
MONITOR, TRAFFIC, CHANNEL = "coasts", "support", "on-call"


@dataclass(frozen=True)
class TenantRecords:
    """What a tenant has."""

    tenant: str
    suite: Suite
    run: Run
    monitor: Monitor
    brief: Brief
    alarm_id: str
    diagnosis_id: str
    label_sample: LabelSample
    labelled: Run
    """A run whose answers can be drawn, and one of them is labelled."""
    search_id: str

    @property
    def secret(self) -> str:
        """The name that stands in all its records, and in none of another tenant's."""
        return secret_of(self.tenant)

    @property
    def target(self) -> str:
        """Its target, which is paused."""
        return self.run.targets[0].name


def secret_of(tenant: str) -> str:
    """Return a word that only this tenant's records hold."""
    return f"secret-of-{tenant}"


def add_tenant(store: Store, tenant: str) -> TenantRecords:
    """Store a run under way, monitors with an alarm, an interpretation, and what came of them."""
    store.extractors.announce(ExtractorStatus("words", "1", ("words",), datetime.now(UTC)))
    own = store.scoped(lambda: Scope(tenant=tenant))
    suite = _suite(tenant)
    own.suites.keep(suite, NOW)
    target = make_target(name=f"simulator:{secret_of(tenant)}", provider="simulator", model="x")
    run = make_run(
        tenant=tenant, suite=suite.name, suite_hash=suite.hash, targets=(target,),
    )  # fmt: skip
    responses = [
        Response(tenant=tenant, at=AT, probe=probe, ending="answered", text=TEXT)
        for probe in probes_of(run, suite, AT)
    ]
    completion = make_completion(tenant=tenant, run_id=run.id)
    concluded = {"tenant": tenant, "run_id": run.id, "completion_id": completion.id}
    concluded["target"] = target.name
    diagnosis = make_diagnosis(**concluded)
    own.records.write([
        run, *responses, completion, _verdict(run, target.name), diagnosis,
        make_assessment(**concluded),
    ])  # fmt: skip
    gathers = store.gathers(RUN_GATHER)
    gathers.expect(run.id, [f"{tenant}-item"], deadline=NOW + timedelta(days=900), now=NOW)
    _pause(store, run)
    monitor = _monitors(own, tenant, suite, run, [response.id for response in responses])
    brief = make_brief(tenant=tenant, report=TEXT, context=TEXT)
    evaluation = make_evaluation(
        tenant=tenant, brief_id=brief.id, report=TEXT, reasoning={"a": TEXT}, writer=target.name
    )
    own.records.write([brief, evaluation])
    [alarm] = own.records.all(Alarm)
    _send(store, alarm)
    labelled = _labelled(own, tenant, suite, run)
    space = small_space().model_copy(update={"about": secret_of(tenant)})
    search = own.searches.start(small_search(tenant=tenant, space=space, target=target))
    return TenantRecords(
        tenant, suite, run, monitor, brief, alarm.id, diagnosis.id, *labelled, search.id
    )


def _labelled(own: Store, tenant: str, suite: Suite, run: Run) -> tuple[LabelSample, Run]:
    """Store a run that has ended, with a sample of its answers, a label and a correction."""
    labelled = run.model_copy(update={"nonce": "labelled", "repeats": 2})
    labelled = Run(**labelled.model_dump(exclude={"id"}))
    of: dict[str, Any] = {"tenant": tenant, "run_id": labelled.id}
    probes = list(probes_of(labelled, suite, AT))
    answers = [
        Response(tenant=tenant, at=AT, probe=probe, ending="answered", text=TEXT)
        for probe in probes
    ]
    measured = [
        make_features(
            **of, probe_id=probe.id, response_id=response.id, unit_id=probe.unit_id,
            values={"words": float(number)},
        )
        for number, (probe, response) in enumerate(zip(probes, answers, strict=True))
    ]  # fmt: skip
    drawn = tuple(
        DrawnAnswer(response_id=answer.id, stratum=0, probability=0.5) for answer in answers
    )
    sample = make_label_sample(**of, guidance=secret_of(tenant), drawn=drawn)
    ids = {"response_id": answers[0].id, "unit_id": probes[0].unit_id}
    records: list[Record] = [
        labelled, *answers, *measured,
        sample, make_label(**of, **ids, person=TEXT, note=TEXT, sample_id=sample.id),
        make_correction(**of, target=run.targets[0].name),
    ]  # fmt: skip
    own.records.write(records)
    return sample, labelled


def _send(store: Store, alarm: Alarm) -> None:
    """Have a channel refuse an alarm, with a reason that names the tenant."""
    now = datetime.now(UTC)
    store.channels.announce([ChannelStatus(name=CHANNEL, kind="webhook", seen_at=now)])
    refused = AlarmDelivery(
        alarm_id=alarm.id, tenant=alarm.tenant, channel=CHANNEL, topic="a gap", at=now, over=False,
        state=DeliveryState.REFUSED, next_at=now, why=secret_of(alarm.tenant),
    )  # fmt: skip
    store.alarm_deliveries.expect([refused])


def _suite(tenant: str) -> Suite:
    sides = {"a": "France", "b": "Peru"}
    return Suite(
        name=secret_of(tenant),
        extractors=("words",),
        probes=tuple(
            SuiteProbe(
                key=side,
                messages=(Message(role=Role.USER, content=TEXT),),
                set="set-1",
                groups={"concept": group},
                facts={"side": side},
            )
            for side, group in sides.items()
        ),
    )


def _verdict(run: Run, target: str) -> PairVerdict:
    return make_verdict(
        tenant=run.tenant, run_id=run.id, target=target, scaffold="direct", set_id="set-1",
        explanations={"flag_1": TEXT},
    )  # fmt: skip


def _pause(store: Store, run: Run) -> None:
    [target] = run.targets
    paused = {"since": NOW, "refusals": 1, "next_try_at": NOW, "why": "It answers 401."}
    store.paused_targets.keep(PausedTarget(lane=target.lane, target=target.name, **paused))


def _monitors(own: Store, tenant: str, suite: Suite, run: Run, answers: list[str]) -> Monitor:
    plan = make_plan(
        suite=suite.name,
        suite_hash=suite.hash,
        target=run.targets[0],
        features=(WatchedFeature(extractor="words", feature="words", high=100.0),),
        comparisons=(WatchedPair(dimension="concept", a="France", b="Peru"),),
    )
    monitor = make_monitor(tenant=tenant, name=MONITOR, plan=plan)
    watched = {"tenant": tenant, "monitor_id": monitor.monitor_id, "run_id": run.id}
    alarm = make_alarm(
        **watched,
        monitor=MONITOR,
        comparison_key=plan.all_comparisons[0].key,
        twins=(Twins(set_id="set-1", gap=1.0, a=answers[:1], b=answers[1:]),),
        reason=secret_of(tenant),
    )
    traffic = make_traffic_monitor(tenant=tenant, name=TRAFFIC)
    past = make_traffic_monitor(
        tenant=tenant, name=f"{TRAFFIC}-history", history=PastTraffic(of=TRAFFIC, before=AT)
    )
    of_traffic = {"tenant": tenant, "monitor_id": traffic.monitor_id, "monitor": TRAFFIC}
    evidence = round_evidence([make_increment(**watched)], [make_evidence(**watched)])
    own.records.write([
        monitor, alarm, make_round(**watched, monitor=MONITOR), *evidence, traffic, past,
        make_round(**of_traffic, purpose="production"), make_description(**of_traffic),
    ])  # fmt: skip
    return monitor
