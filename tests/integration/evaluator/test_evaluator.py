"""The evaluator on a real bus: nine calls on the wire, each apart, whatever the judge replies."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from biaswatch.services.evaluator import app as evaluator
from biaswatch.services.evaluator.settings import EvaluatorSettings
from biaswatch.shared.analysis.report_subjects import table_subject
from biaswatch.shared.contracts import Brief, Evaluation, Subject, parse_target
from biaswatch.shared.parsing.texts import quoted
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two
from biaswatch.shared.store import Store, migrate
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.generating import generator
from tests.support.model_server import model_server, replying
from tests.support.reports import COMPLETE, COUNTS, GROUPS, PLANTED, written_report

OPTIONS = "?reasoning.effort=medium&max_output_tokens=20000"


class Judge:
    """Speaks OpenAI's Responses: writes the complete report, and grades by script."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.grades: dict[str, str] = {}
        self.writes = [written_report(subject())]

    def reply(self, body: Any) -> tuple[int, object]:
        self.bodies.append(body)
        text = self._said(body["input"][-1]["content"])
        return 200, {
            "id": "r", "object": "response", "created_at": 1, "model": "gpt-5-mini",
            "status": "completed", "incomplete_details": None, "error": None,
            "output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed",
                        "content": [{"type": "output_text", "text": text, "annotations": []}]}],
            "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
            "usage": {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 0},
                      "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 0},
                      "total_tokens": 18},
        }  # fmt: skip

    def _said(self, asked: str) -> str:
        if '{"sections"' in asked:
            return self.writes.pop(0) if len(self.writes) > 1 else self.writes[0]
        for word, reply in self.grades.items():
            if word in asked:
                return reply
        return '{"score": 0.5, "reasoning": "scripted"}'


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
def target(judge: Judge) -> Iterator[str]:
    with model_server(replying(judge.reply)) as url:
        yield f"openai-responses:gpt-5-mini@{url}{OPTIONS}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield store


@asynccontextmanager
async def evaluating(bus: ProvisionedBus, tmp_path: Path, **more: Any) -> AsyncIterator[None]:
    given: dict[str, Any] = {
        "nats_url": bus.server.url,
        "store_url": f"sqlite:///{tmp_path / 'store.db'}",
    }
    service = evaluator.build(EvaluatorSettings(**given, **more))
    running = asyncio.create_task(service.run(with_health=False))
    try:
        async with generator(given["nats_url"], given["store_url"]):
            yield
    finally:
        service.stop()
        await running


def subject() -> Subject:
    return table_subject(
        as_json(two_by_two(*COUNTS)), COUNTS, outcome="sentence", value="third strike",
        groups=GROUPS, alpha=0.05, least=15,
    )  # fmt: skip


def brief_for(target: str, **fields: Any) -> Brief:
    given = {
        "at": datetime.now(UTC),
        "purpose": "judge",
        "subject": subject(),
        "profile": "criminal_justice",
        "judges": (parse_target(target),),
        "controls": False,  # a judge that follows a script cannot pass them
    }
    return Brief(**{**given, **fields})


async def evaluated(bus: ProvisionedBus, *briefs: Brief) -> list[Evaluation]:
    """Publish briefs and give their evaluations, in the briefs' order."""
    from biaswatch.shared.bus.stage import Stage

    seen = ReceivedRecords()
    bus.work(Stage("recorder", Evaluation, seen.handle))
    await bus.publish(*briefs)
    await seen.wait_for(len(briefs))
    result = {record.brief_id: record for record in seen.records}
    return [result[brief.id] for brief in briefs]


async def test_fixed_reports_make_nine_calls_each_all_of_them_apart(
    bus: ProvisionedBus, tmp_path: Path, store: Store, judge: Judge, target: str
) -> None:
    reports = [COMPLETE, *(report for report, _ in PLANTED.values())]
    briefs = [
        brief_for(target, report=report, texts_hash=str(n)) for n, report in enumerate(reports)
    ]
    async with evaluating(bus, tmp_path):
        result = await evaluated(bus, *briefs)
    assert len(judge.bodies) == 4 * 9
    users = [body["user"] for body in judge.bodies]
    assert len(set(users)) == 36
    assert users == [body["prompt_cache_key"] for body in judge.bodies]
    assert {body["model"] for body in judge.bodies} == {"gpt-5-mini"}
    assert all(body["reasoning"] == {"effort": "medium"} for body in judge.bodies)
    assert {body["max_output_tokens"] for body in judge.bodies} == {20000}
    prompts = [body["input"][-1]["content"] for body in judge.bodies]
    for report in reports:
        assert sum(quoted(report.strip()) in prompt for prompt in prompts) == 9
    for evaluation in result:
        assert (evaluation.mean, evaluation.mean_of) == (0.5, 9)
    assert result[0].faults == ()
    for (_, kind), evaluation in zip(PLANTED.values(), result[1:], strict=True):
        assert kind in {fault.kind for fault in evaluation.faults}
    assert await bus.dead() == []


async def test_what_a_judge_says_wrongly_is_not_scored_and_the_mean_says_over_how_many(
    bus: ProvisionedBus, tmp_path: Path, store: Store, judge: Judge, target: str
) -> None:
    judge.grades = {
        "Does it put the p-value": '{"score": 1.7, "reasoning": "too good"}',
        "what the data cannot tell": "I would say 0.9.",
        "free of any attribution": '{"score": 0.2, "reasoning": "r",'
        ' "problematic_phrases": ["such crimes"]}',
        "interval of another method": '{"score": 1, "reasoning": "exact"}',
    }
    async with evaluating(bus, tmp_path):
        [result] = await evaluated(bus, brief_for(target, writer=parse_target(target)))
    scores = {dimension.dimension: dimension.mean for dimension in result.dimensions}
    assert scores["p_value-chi_square"] is None
    assert scores["limitations"] is None
    assert scores["interval-odds_ratio"] == 1
    assert result.mean_of == 7
    assert result.mean == pytest.approx((0.2 + 1 + 1 + 0.5 * 4) / 7)
    why = {
        judgement.dimension: judgement.reason
        for judgement in result.judgements
        if judgement.score is None
    }
    assert "outside 0 to 1" in (why["p_value-chi_square"] or "")
    assert "not JSON" in (why["limitations"] or "")
    assert result.phrases == {"attribution/1/0": ("such crimes",)}
    assert (result.failed, result.faults) == (False, ())
    assert "The odds ratio of 2.429 shows more" in (result.report or "")
    assert "user" not in judge.bodies[0]  # the interpretation itself may be cached


async def test_a_report_that_cannot_be_read_is_asked_for_twice_more_and_judged_by_no_judge(
    bus: ProvisionedBus, tmp_path: Path, store: Store, judge: Judge, target: str
) -> None:
    judge.writes = ["Here is your report."]
    async with evaluating(bus, tmp_path):
        [result] = await evaluated(bus, brief_for(target, writer=parse_target(target)))
    assert result.report is None
    assert result.reason == "No report: the reply is not JSON."
    assert (result.mean, result.mean_of, len(judge.bodies)) == (None, 0, 3)


async def test_faults_go_back_to_the_writer_and_a_repaired_report_passes(
    bus: ProvisionedBus, tmp_path: Path, store: Store, judge: Judge, target: str
) -> None:
    judge.writes = [written_report(subject(), "number", "claim"), written_report(subject())]
    async with evaluating(bus, tmp_path):
        [result] = await evaluated(bus, brief_for(target, writer=parse_target(target), judges=()))
    assert (result.failed, result.repairs, result.faults, result.calls) == (False, 1, (), 2)
    turns = judge.bodies[1]["input"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert "A number is typed; use a slot." in turns[-1]["content"]


async def test_sentences_that_fail_to_the_end_are_left_out_of_a_report_that_failed(
    bus: ProvisionedBus, tmp_path: Path, store: Store, judge: Judge, target: str
) -> None:
    judge.writes = [written_report(subject(), "number", "claim")]
    async with evaluating(bus, tmp_path):
        [result] = await evaluated(bus, brief_for(target, writer=parse_target(target)))
    assert (result.failed, result.repairs, len(judge.bodies)) == (True, 2, 3)
    assert {fault.kind for fault in result.faults} == {"number", "claim"}
    report = result.report or ""
    assert "7.77" not in report
    places = {report[fault.start : fault.end] for fault in result.faults if fault.start is not None}
    assert places == {"[Sentence withheld: number.]", "[Sentence withheld: claim.]"}


async def test_several_judges_and_repeats_say_how_far_they_agree(
    bus: ProvisionedBus, tmp_path: Path, store: Store, judge: Judge, target: str
) -> None:
    judge.grades = {"what the data cannot tell": '{"score": 0.9, "reasoning": "r"}'}
    judges = (parse_target(target), parse_target(target + "&temperature=1"))
    brief = brief_for(target, report=COMPLETE, judges=judges, repeats=2)
    async with evaluating(bus, tmp_path):
        [result] = await evaluated(bus, brief)
    assert len(judge.bodies) == 9 * 2 * 2
    assert result.agreement is not None
    assert result.agreement.alpha == 1.0  # both judges follow one script
    assert result.repeat_agreement is not None
    assert result.disputed == ()


async def test_a_judge_that_fails_its_controls_is_named_and_does_not_count_unless_it_is_wanted(
    bus: ProvisionedBus, tmp_path: Path, store: Store, judge: Judge, target: str
) -> None:
    fields = {"report": COMPLETE, "controls": True, "controls_per_kind": 4}
    briefs = [
        brief_for(target, **fields),
        brief_for(target, **fields, count_failed_judges=True),
        brief_for(target, **fields, most_calls=112),
    ]
    async with evaluating(bus, tmp_path):
        result, counted, refused = await evaluated(bus, *briefs)
    controls = 6 * 2 * 4 + 4 * 8 + 2 * 2 * 6
    assert result.calls == counted.calls == 9 + controls
    assert len(judge.bodies) == 2 * 9 + controls  # both briefs share the examination
    reasons = {kind.reason for standing in result.judges for kind in standing.kinds}
    assert reasons == {"it always says 0.5"}
    assert (result.mean, result.mean_of, len(result.dimensions)) == (None, 0, 9)
    assert {item.mean for item in result.apart} == {0.5}
    assert (counted.mean, counted.apart) == (0.5, ())
    assert counted.judges[0].counts("attribution")
    assert "takes up to 113 calls" in (refused.reason or "")


async def test_a_brief_that_comes_twice_is_asked_once(
    bus: ProvisionedBus, tmp_path: Path, store: Store, judge: Judge, target: str
) -> None:
    brief = brief_for(target, writer=parse_target(target))
    async with evaluating(bus, tmp_path):
        [result] = await evaluated(bus, brief)
        await bus.publisher.publish(brief, publication=8)
        await bus.settled(_stage())
    assert result.mean == 0.5
    assert len(judge.bodies) == 1 + 9 + 1


def _stage() -> Any:
    from biaswatch.shared.bus.stage import Stage

    return Stage("evaluator", Brief, ReceivedRecords().handle)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"profile": "astrology"}, "Unknown profile 'astrology'"),
        ({"dimensions": ("beauty",)}, "Unknown dimension 'beauty'"),
        ({"report": ""}, "neither a report nor a writer"),
    ],
)
async def test_a_brief_nothing_can_come_of_says_so_to_whoever_waits(
    bus: ProvisionedBus, tmp_path: Path, store: Store, target: str, fields: dict[str, Any], why: str
) -> None:
    async with evaluating(bus, tmp_path):
        [result] = await evaluated(bus, brief_for(target, **{"report": "x", **fields}))
    assert why in (result.reason or "")
