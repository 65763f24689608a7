"""A run whose instrument errs for one group, with the truth that people would say."""

from typing import Any

import numpy as np

from biaswatch.services.gateway.labels.commands import LabelCommands
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import (
    ExtractorPin,
    Features,
    Label,
    Response,
    Run,
    Suite,
    SuiteProbe,
    probes_of,
)
from biaswatch.shared.contracts.response import ExtractorStatus
from biaswatch.shared.requests.labels import GivenLabel, LabelsRequest, SampleRequest
from biaswatch.shared.store import Store
from tests.support.records import AT, make_run

GROUPS = ("asian", "white")
JUDGE = ExtractorPin(name="judge", version="1")
SUITE = Suite(
    name="asked",
    extractors=("judge",),
    features=("rude",),
    probes=tuple(
        SuiteProbe(key=f"{group}{n}", prompt=f"Question {n}", groups={"race": group})
        for group in GROUPS
        for n in range(120)
    ),
)


def write_labelled_run(store: Store) -> tuple[Run, dict[str, float]]:
    """Write a run whose instrument finds rudeness to white names that is not there."""
    rng = np.random.default_rng(4)
    run = make_run(
        suite=SUITE.name, suite_hash=SUITE.hash, extractors=({"name": "judge", "version": "1"},)
    )
    store.suites.keep(SUITE, AT)
    store.extractors.announce(ExtractorStatus("judge", "1", ("rude",), AT))
    truth: dict[str, float] = {}
    records: list[Any] = [run]
    for probe in probes_of(run, SUITE, AT):
        response = Response(at=AT, probe=probe, ending="answered", text=f"Said to {probe.key}.")
        truth[response.id] = float(rng.random() < 0.2)
        wrong = 0.3 if probe.groups["race"] == "white" else 0.0
        read = truth[response.id] if truth[response.id] else float(rng.random() < wrong)
        records += [
            response,
            Features(
                at=AT, run_id=run.id, probe_id=probe.id, response_id=response.id,
                unit_id=probe.unit_id, extractor="judge", extractor_version="1",
                values={"rude": read},
            ),
        ]  # fmt: skip
    store.records.write(records)
    return run, truth


def labelled(store: Store, run: Run, truth: dict[str, float], wanted: int = 80) -> list[Label]:
    """Draw answers, store what somebody says who knows the truth, and return it unpublished."""
    runs = RunQueries(store)
    commands = LabelCommands(store, runs, LabelQueries(store, runs), lambda: AT)
    sample = commands.sample_for(run.id, SampleRequest(feature="rude", wanted=wanted))
    commands.store_records([sample])
    given = [
        GivenLabel(response_id=item.response_id, value=truth[item.response_id])
        for item in sample.drawn
    ]
    request = LabelsRequest(extractor=JUDGE.name, feature="rude", labels=given)
    labels = commands.check_labels(run.id, request, "anna").new
    commands.store_records(labels)
    return labels
