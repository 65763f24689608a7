"""A study whose answers are recorded, and exactly what it must find, whoever died on the way."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from biaswatch.services.diagnoser.handlers import DiagnoseRun
from biaswatch.services.extractor.domain import Reading
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.contracts import (
    ClosedBy,
    Completion,
    Diagnosis,
    ExtractorPin,
    Features,
    Probe,
    Response,
    Run,
    Suite,
    SuiteProbe,
    Target,
    expected_of,
    parse_target,
    probes_of,
    response_id_of,
)
from biaswatch.shared.store import Store, migrate

MEASURES = load(["rating", "words"])
AT = datetime(2026, 1, 1, tzinfo=UTC)


class ExactStudy:
    """Pairs of questions with recorded answers; any number of runs of them can be compared."""

    def __init__(self, folder: Path, probes: int) -> None:
        self._folder = folder
        items = [
            SuiteProbe(
                key=f"p{n}", set=f"s{n // 2}", groups={"side": "b" if n % 2 else "a"},
                prompt=f"Rate {n}.",
            )
            for n in range(probes)
        ]  # fmt: skip
        self.suite = Suite(
            name="pairs", extractors=tuple(MEASURES), features=("rating", "words"),
            probes=tuple(items),
        )  # fmt: skip
        self.probes = probes
        self._answers = folder / "answers.jsonl"
        lines = [json.dumps({"key": item.key, "text": said(item.key)}) for item in items]
        self._answers.write_text("\n".join(lines))

    def run(self, number: int = 0, *, target: Target | None = None) -> Run:
        """Return a run of it, on the recorded answers or another target."""
        return Run(
            at=datetime.now(UTC),
            suite=self.suite.name,
            suite_hash=self.suite.hash,
            targets=(target or parse_target(f"replay:{self._answers}"),),
            extractors=tuple(
                ExtractorPin(name=name, version=extractor.version)
                for name, extractor in MEASURES.items()
            ),
            nonce=str(number),
        )

    def faults(self, store: Store, run: Run) -> list[str]:
        """Compare a run that has ended with what it must have found; return what is wrong."""
        answers = list(store.records.read(Response, run_id=run.id))
        features = list(store.records.read(Features, run_id=run.id))
        asked = {response_id_of(probe): probe.key for probe in probes_of(run, self.suite, AT)}
        faults = []
        if odd := [answer for answer in answers if answer.text != said(asked.get(answer.id, "p0"))]:
            faults.append(f"{len(odd)} answers that nobody recorded, such as {odd[0]!r}")
        if len(answers) != len(asked):
            faults.append(f"{len(answers)} answers to {len(asked)} questions")
        if len(features) != len(asked) * len(MEASURES):
            faults.append(f"{len(features)} measurements of {len(asked) * len(MEASURES)}")
        result, expected = findings(store, run), self._expected(run)
        if result != expected:
            faults.append(f"other statistics:\n{result}\nand not\n{expected}")
        return faults

    def _expected(self, run: Run) -> Sequence[str]:
        """Return the findings of a run that nothing disturbs, made without any service."""
        url = f"sqlite:///{self._folder / f'undisturbed-{run.id}.db'}"
        migrate(url)
        with Store.open(url) as apart:
            apart.suites.keep(self.suite, AT)
            measured = [
                measured_by(run, pin, probe)
                for probe in probes_of(run, self.suite, AT)
                for pin in run.extractors
            ]
            apart.records.write([run, *measured])
            expected = expected_of(run, probes_of(run, self.suite, AT))
            assert {item.id for item in measured} == expected.keys()
            completion = Completion(
                at=AT, run_id=run.id, stage="features", closed_by=ClosedBy.ARRIVAL,
                expected=len(measured), arrived=len(measured),
            )  # fmt: skip
            diagnose = DiagnoseRun(apart, now=lambda: AT, plan=AnalysisPlan())
            apart.records.write(diagnose(completion, run))
            return findings(apart, run)


def findings(store: Store, run: Run) -> list[str]:
    """Return all that a run found, as text, but for the moments at which it was written."""
    diagnoses = store.records.read(Diagnosis, run_id=run.id)
    return sorted(item.model_dump_json(exclude={"at"}) for item in diagnoses)


def said(key: str) -> str:
    """Return the recorded answer to a question."""
    number = int(key.removeprefix("p"))
    stated = 2.0 + (number * 7 % 11) / 10 + (0.3 if number % 2 else 0.0)
    return f"Let me see. {'Well. ' * (number % 5)}\nRating: {stated:.2f}"


def measured_by(run: Run, pin: ExtractorPin, probe: Probe) -> Features:
    """Return what an extractor measures of the answer to a probe."""
    return Features(
        tenant=run.tenant,
        purpose=run.purpose,
        at=AT,
        run_id=run.id,
        probe_id=probe.id,
        response_id=response_id_of(probe),
        unit_id=probe.unit_id,
        extractor=pin.name,
        extractor_version=pin.version,
        values=MEASURES[pin.name].measure(Reading(said(probe.key))),
    )
