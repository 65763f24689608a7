"""840 recorded ratings of each of two real models, through every service, against known gaps."""

import asyncio
import json
import re
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biaswatch.services.diagnoser import app as diagnoser
from biaswatch.services.extractor import app as extractor
from biaswatch.services.generator import app as generator
from biaswatch.services.planner import app as planner
from biaswatch.services.recorder import app as recorder
from biaswatch.shared.contracts import (
    Assessment,
    Diagnosis,
    ExtractorPin,
    Features,
    Response,
    Run,
    Suite,
    SuiteProbe,
    Verdict,
    parse_target,
)
from biaswatch.shared.store import Store, migrate
from tests.support.bus import ProvisionedBus
from tests.support.recorded import RecordedData
from tests.support.waiting import PATIENCE_S

MODELS = {"gpt4turbo.json": "gpt-4-turbo", "sonnet4.json": "claude-sonnet-4"}
PAIRS = {
    "W-B": ("white", "black"),
    "W-A": ("white", "asian"),
    "B-A": ("black", "asian"),
    "M-F": ("male", "female"),
}


def judged(reasoning: str) -> dict[str, float]:
    """Return the score of each criterion; the study writes a line for each of them."""
    found = re.findall(r"^(\w+): .+? \(score: (\d)\)$", reasoning, re.MULTILINE)
    return {name: float(score) for name, score in found}


def recording_of(source: Path, target: Path) -> set[str]:
    """Write the recorded ratings as a replay file, as text; give the scaffolds."""
    seen: dict[tuple[str, str], int] = {}
    lines = []
    for block in json.loads(source.read_text()):
        for rated in block["rankings"]:
            address = (rated["cv_id"], block["pipeline"])
            repeat = seen[address] = seen.get(address, -1) + 1
            stated = f"\n\nRating: {rated['ranking']}" if float(rated["ranking"]) else ""
            text = f"{rated['reasoning'][:400]}{stated}".strip() or "No answer."
            lines.append(
                {
                    "key": rated["cv_id"],
                    "scaffold": block["pipeline"],
                    "repeat": repeat,
                    "text": text,
                    "steps": [
                        {"name": f"criterion:{name}", "rating": score}
                        for name, score in judged(rated["reasoning"]).items()
                    ],
                }
            )
    target.write_text("\n".join(json.dumps(line) for line in lines))
    return {line["scaffold"] for line in lines}


def suite_of(variants: list[dict[str, Any]]) -> Suite:
    return Suite(
        name="cv-recordings",
        extractors=("rating",),
        features=("rating",),
        assessed=("rating",),
        probes=tuple(
            SuiteProbe(
                key=v["id"],
                prompt=f"Rate this CV.\n{v['content'][:200]}",
                set=f"set{v['set']}",
                groups={k: v[k] for k in ("race", "gender") if v[k] != "neutral"},
                expected={"1": "3", "2": "2", "3": "2"}[v["set"]],
            )
            for v in variants
        ),
    )


@pytest.mark.parametrize("file", MODELS)
async def test_the_gaps_of_recorded_ratings_come_out_of_the_diagnoser_as_they_are_known(
    bus: ProvisionedBus,
    tmp_path: Path,
    recorded_data: RecordedData,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
) -> None:
    monkeypatch.setenv("NATS_URL", bus.server.url)
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("BIASWATCH_GENERATOR_RECORDINGS_DIR", str(tmp_path))
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    scaffolds = recording_of(recorded_data("data/cv") / file, tmp_path / "answers.jsonl")
    suite = suite_of(json.loads((recorded_data("data/cv") / "cv_variants.json").read_text()))
    run = Run(
        at=datetime.now(UTC),
        suite=suite.name,
        suite_hash=suite.hash,
        targets=(parse_target(f"replay:{tmp_path / 'answers.jsonl'}"),),
        scaffolds=tuple(sorted(scaffolds)),
        repeats=10,
        extractors=(ExtractorPin(name="rating", version="3"),),
    )
    service_modules = (planner, generator, extractor, recorder, diagnoser)
    services = []
    for module in service_modules:
        settings = [
            v
            for v in vars(module).values()
            if isinstance(v, type) and v.__name__.endswith("Settings")
        ]
        services.append(module.build(settings[0]()))
    with Store.open(url) as store:
        store.suites.keep(suite, datetime.now(UTC))
        running = [asyncio.create_task(service.run(with_health=False)) for service in services]
        await bus.publish(run)
        async with asyncio.timeout(PATIENCE_S):
            for kind, each in ((Diagnosis, 2), (Assessment, 1)):
                while store.records.count(kind, run_id=run.id) < each * len(scaffolds):
                    await asyncio.sleep(0.1)
        for service in services:
            service.stop()
        await asyncio.gather(*running)
        assert store.records.count(Response, run_id=run.id) == 840
        assert store.records.count(Features, run_id=run.id) == 840
        found = list(store.records.read(Diagnosis, run_id=run.id))
        assessed = {each.scaffold: each for each in store.records.read(Assessment, run_id=run.id)}
    golden = json.loads((recorded_data("golden") / "cv_scaffolds.json").read_text())
    for scaffold in scaffolds:
        known = golden[f"{MODELS[file]}|{scaffold}"]
        for name, (a, b) in PAIRS.items():
            assert gap(found, scaffold, a, b) == pytest.approx(known[name]["diff"], abs=1e-9)
        beyond = assessed[scaffold]
        assert beyond.missing == known["unparsed"]
        assert beyond.quality.value == pytest.approx(known["quality"], abs=1e-9)
        assert beyond.total_bias.value == pytest.approx(known["total_bias"], abs=1e-9)
    blocks = json.loads((recorded_data("data/cv") / file).read_text())
    by_step = assessed["decomposed_algorithmic"]
    rated = [r for b in blocks if b["pipeline"] == by_step.scaffold for r in b["rankings"]]
    check_criteria(by_step, rated)
    check_errors(by_step, rated)
    assert assessed["one_shot"].criteria == ()
    assert all(each.verdict is not Verdict.DISPARITY for d in found for each in d.gaps)
    assert await bus.dead() == []


def check_criteria(found: Assessment, rated: list[dict[str, Any]]) -> None:
    """Compare gaps by criterion with differences of pooled means: every cell has ten ratings."""
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for each in rated:
        _, race, *gender = each["cv_id"].split("_")
        for name, score in judged(each["reasoning"]).items():
            for group in (race, *gender):
                scores[name, group].append(score)
    assert len(found.criteria) == 3 * len(PAIRS)
    for gap_ in found.criteria:
        a, b = (scores[gap_.criterion, group] for group in (gap_.a, gap_.b))
        assert gap_.gap.value == pytest.approx(np.mean(a) - np.mean(b), abs=1e-9)
        assert gap_.missing == 0


def check_errors(found: Assessment, rated: list[dict[str, Any]]) -> None:
    """Compare the error on identified and on anonymised CVs with the study's pooled means."""
    truth = {"set1": 3, "set2": 2, "set3": 2}
    errors: dict[bool, list[float]] = defaultdict(list)
    for each in rated:
        cv, race, *_ = each["cv_id"].split("_")
        errors[race == "neutral"].append(abs(float(each["ranking"]) - truth[cv]))
    against = found.quality.against_anonymised
    assert against is not None
    assert against.identified == pytest.approx(np.mean(errors[False]), abs=1e-9)
    assert against.anonymised == pytest.approx(np.mean(errors[True]), abs=1e-9)
    assert against.gap.value == pytest.approx(against.identified - against.anonymised, abs=1e-9)


def gap(found: list[Diagnosis], scaffold: str, a: str, b: str) -> float:
    for diagnosis in found:
        for each in diagnosis.gaps if diagnosis.scaffold == scaffold else ():
            if {each.a, each.b} == {a, b}:
                assert each.gap.value is not None
                return each.gap.value if each.a == a else -each.gap.value
    raise AssertionError((scaffold, a, b))
