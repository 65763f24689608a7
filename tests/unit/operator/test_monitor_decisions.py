"""What the operator asks for follows from what is and what should be, and from nothing else."""

from datetime import timedelta
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from biaswatch.services.gateway.status import OVERDUE_AFTER as OF_THE_GATEWAY
from biaswatch.services.operator.domain.conditions import (
    Truth,
    changed_fields,
    merged,
    not_ready_events,
)
from biaswatch.services.operator.domain.monitors import (
    OVERDUE_AFTER,
    MonitorAct,
    alarm_events,
    decide,
    is_owner,
    monitor_conditions,
    monitor_status,
    ready_condition,
    wanted_monitor,
)
from biaswatch.services.operator.domain.suites import SuiteNotReadyError
from biaswatch.shared.contracts import AlarmState, Estimate, Verdict
from biaswatch.shared.requests.evidence import EvidenceView
from biaswatch.shared.requests.monitor_views import MonitorStatus, MonitorView
from tests.support.records import AT, make_alarm

META = {"name": "hiring", "namespace": "team", "uid": "1", "generation": 2}
SPEC: dict[str, Any] = {
    "suite": {"name": "bank"}, "target": "openai:gpt", "cadence": "6h", "alpha": 0.05,
}  # fmt: skip
SUITES = {"bank": "a" * 32}
WANTED = wanted_monitor(META, SPEC, SUITES)
APPLIED = {"applied": WANTED.fingerprint, "monitorId": "m1"}

Model = TypeVar("Model", bound=BaseModel)


def partial_model(model: type[Model], **fields: Any) -> Model:
    """Make a record of the gateway with some of its fields."""
    return model.model_construct(**fields)


def seen(state: str = "active", **fields: Any) -> MonitorView:
    status = partial_model(MonitorStatus, monitor_id="m1", state=state, rounds=3, since=AT)
    status = status.model_copy(update=fields.pop("status", {}))
    return partial_model(MonitorView, status=status, **{"evidence": [], "alarms": [], **fields})


def test_the_file_that_is_applied_is_the_spec_with_the_suites_hash() -> None:
    assert WANTED.file == {
        "name": "hiring", "target": "openai:gpt", "cadence": "6h", "alpha": 0.05,
        "suite_hash": "a" * 32,
    }  # fmt: skip


def test_a_monitor_of_traffic_needs_no_suite_and_a_name_may_be_given() -> None:
    wanted = wanted_monitor(META, {"name": "old_name", "target": "traffic:chat"}, {})
    assert wanted.file == {"name": "old_name", "target": "traffic:chat"}


def test_a_suite_that_is_not_ready_is_named_with_its_namespace() -> None:
    with pytest.raises(SuiteNotReadyError, match="The BiasSuite bank in the namespace team"):
        wanted_monitor(META, SPEC, {})


@pytest.mark.parametrize(
    ("paused", "there", "status", "acts"),
    [
        (False, None, {}, [MonitorAct.APPLY]),
        (False, seen(), APPLIED, []),
        (False, None, APPLIED, [MonitorAct.APPLY]),  # somebody deleted it
        (False, seen(), {**APPLIED, "applied": "other"}, [MonitorAct.APPLY]),
        (False, seen(), {**APPLIED, "monitorId": "other"}, [MonitorAct.APPLY]),
        (False, seen("paused"), APPLIED, [MonitorAct.RESUME]),
        (False, seen("ended"), APPLIED, []),
        (True, seen(), APPLIED, [MonitorAct.PAUSE]),
        (True, seen("paused"), APPLIED, []),
        (True, None, {}, []),  # applying it would begin it
        (True, seen("paused"), {**APPLIED, "applied": "other"}, []),
    ],
)
def test_what_is_asked_for_follows_from_what_is_there(
    paused: bool, there: MonitorView | None, status: dict[str, str], acts: list[MonitorAct]
) -> None:
    wanted = wanted_monitor(META, {**SPEC, "paused": paused}, SUITES)
    assert decide(wanted, there, status) == acts


def test_a_suite_of_other_content_is_applied_anew() -> None:
    changed = wanted_monitor(META, SPEC, {"bank": "b" * 32})
    assert decide(changed, seen(), APPLIED) == [MonitorAct.APPLY]


def test_a_name_belongs_to_the_oldest_resource_that_is_not_deleted() -> None:
    old = {"creationTimestamp": "2026-01-01T00:00:00Z", "uid": "a"}
    new = {"creationTimestamp": "2026-01-02T00:00:00Z", "uid": "b"}
    assert is_owner(old, [new])
    assert not is_owner(new, [old])
    assert is_owner(new, [{**old, "deletionTimestamp": "2026-01-03T00:00:00Z"}])


def test_an_alarm_is_not_ready_events_and_its_end_once() -> None:
    alarm = make_alarm(words="Black applicants are rated lower.")
    [event] = alarm_events({}, seen(alarms=[alarm]))
    assert (event.reason, event.warning, event.message) == ("Alarm", True, alarm.words)
    known = {"alarms": [{"id": alarm.id, "comparison": alarm.comparison_key}]}
    assert alarm_events(known, seen(alarms=[alarm])) == []
    cleared = make_alarm(state=AlarmState.CLEARED)
    [over] = alarm_events(known, seen(alarms=[alarm, cleared]))
    assert (over.reason, over.warning) == ("AlarmCleared", False)


def test_a_round_is_overdue_after_as_long_as_the_gateway_says() -> None:
    assert OVERDUE_AFTER == OF_THE_GATEWAY
    late = seen(status={"next_round_at": AT})
    for past, status in ((timedelta(0), Truth.FALSE), (timedelta(seconds=1), Truth.TRUE)):
        _, overdue = monitor_conditions(late, AT + OVERDUE_AFTER + past)
        assert overdue.status is status
    _, overdue = monitor_conditions(seen("paused"), AT)
    assert overdue.status is Truth.FALSE


def test_the_comparison_that_is_decided_is_shown_first() -> None:
    def evidence(name: str, verdict: Verdict, log_supremum: float) -> EvidenceView:
        gap = Estimate(value=0.25, low=0.125, high=0.5)
        return partial_model(
            EvidenceView,
            comparison=name,
            gap=gap,
            verdict=verdict,
            log_supremum=log_supremum,
            bound=3.0,
            same_treatment="differs",
            log_e_same_treatment=4.25,
            group_effect=None,
            clusters=None,
            about="these names and texts",
        )

    result = seen(
        evidence=[
            evidence("nothing", Verdict.INCONCLUSIVE, 2.0),
            evidence("weak", Verdict.DISPARITY, 3.0),
            evidence("strong", Verdict.DISPARITY, 9.0),
        ]
    )
    status = monitor_status(META, APPLIED, result, [ready_condition(result)], AT)
    assert (status["comparison"], status["verdict"]) == ("strong", "disparity")
    assert status["gap"] == "0.25 [0.125, 0.5]"
    assert status["sameTreatment"] == "differs (evidence 4.25)"
    assert status["about"] == "these names and texts"
    assert "groupEffect" not in status
    assert status["observedGeneration"] == 2


def test_a_monitor_whose_rounds_measured_nothing_is_not_said_to_be_quiet() -> None:
    def condition(gap: Estimate) -> tuple[Truth, str]:
        evidence = partial_model(
            EvidenceView,
            comparison="c",
            gap=gap,
            verdict=Verdict.INCONCLUSIVE,
            log_supremum=0.0,
            bound=3.0,
        )
        alarming, _ = monitor_conditions(seen(evidence=[evidence]), AT)
        return alarming.status, alarming.reason

    assert condition(Estimate(value=0.1)) == (Truth.FALSE, "Quiet")
    assert condition(Estimate(reason="no values")) == (Truth.UNKNOWN, "NotMeasured")


def test_before_the_first_round_there_is_no_verdict_and_no_gap() -> None:
    result = seen(status={"rounds": 0})
    status = monitor_status(META, {}, result, monitor_conditions(result, AT), AT)
    assert not {"verdict", "gap", "comparison", "lastRound"} & status.keys()
    alarming, _ = monitor_conditions(result, AT)
    assert alarming.message == "No round has closed yet."


def test_a_condition_keeps_the_moment_since_when_it_holds() -> None:
    first = {"conditions": merged({}, monitor_conditions(seen(), AT), AT)}
    later = merged(first, monitor_conditions(seen(), AT), AT + timedelta(hours=1))
    assert later == first["conditions"]
    alarmed = monitor_conditions(seen(alarms=[make_alarm()]), AT)
    changed = merged(first, alarmed, AT + timedelta(hours=1))
    assert [item["lastTransitionTime"] for item in changed] == [
        "2026-01-02T04:04:05Z" if new["type"] == "Alarming" else old["lastTransitionTime"]
        for new, old in zip(changed, first["conditions"], strict=True)
    ]


def test_a_refusal_is_told_again_only_when_its_sentence_changes() -> None:
    refused = ready_condition(seen())
    refused = type(refused)(refused.type, Truth.FALSE, "Refused", "The target is unknown.")
    assert len(not_ready_events({}, refused)) == 1
    assert not_ready_events({"conditions": merged({}, [refused], AT)}, refused) == []


def test_only_fields_that_differ_are_written_and_those_that_are_gone_are_removed() -> None:
    assert changed_fields({"a": 1, "b": 2, "c": None}, {"a": 1, "d": 3}) == {"b": None, "d": 3}
