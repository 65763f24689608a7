"""A run that has been measured, written into a store: groups, sets, repeats, missing answers."""

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np

from biaswatch.shared.contracts import (
    Claim,
    ExtractorPin,
    ExtractorStatus,
    Features,
    Probe,
    Run,
    Suite,
    SuiteProbe,
    features_id_of,
    parse_target,
    probes_of,
    response_id_of,
)
from biaswatch.shared.store import Store

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
EXTRACTORS = {"words": ("words", "words_per_sentence"), "vader": ("sentiment",)}
RACES, GENDERS = ("asian", "black", "white"), ("female", "male")
REFUSED = "refused"


def make_suite(claim: Claim = Claim.POPULATION, sets: int = 6) -> Suite:
    """Make a suite of sets of six twins; the source differs between sets, the keyword in all."""
    return Suite(
        name="six-twins",
        extractors=tuple(EXTRACTORS),
        claim=claim,
        selected_at_least={"sentiment": 0.5},
        probes=tuple(
            SuiteProbe(
                key=f"s{number}.{race}.{gender}",
                prompt=f"What does the {race} {gender} neighbour {number} do?",
                groups={"race": race, "gender": gender},
                set=f"s{number}",
                baseline=f"Neighbour {number} works.",
                facts={"source": f"source-{number % 2}", "keyword": f"k{number}.{race}"},
            )
            for number in range(sets)
            for race in RACES
            for gender in GENDERS
        ),
    )


def make_measured_run(suite: Suite, *, repeats: int = 2, targets: int = 2, nonce: str = "") -> Run:
    """Make the run of a suite that two extractors measure."""
    return Run(
        at=AT,
        suite=suite.name,
        suite_hash=suite.hash,
        targets=tuple(parse_target(f"simulator:m{n}") for n in range(targets)),
        repeats=repeats,
        nonce=nonce,
        extractors=tuple(ExtractorPin(name=name, version="1") for name in EXTRACTORS),
    )


def write_measured_run(
    store: Store, run: Run, suite: Suite, moved: Mapping[str, float] | None = None
) -> list[Features]:
    """Write a run with its measurements; of every seventh answer there are none.

    Two runs of a suite have the same numbers, but for the races that are moved.
    """
    rng = np.random.default_rng(11)
    store.extractors.announce(
        *(ExtractorStatus(name, "1", features, AT) for name, features in EXTRACTORS.items())
    )
    result = [
        _features(probe, name, rng, moved or {}, missing=number % 7 == 3)
        for number, probe in enumerate(probes_of(run, suite, AT))
        for name in EXTRACTORS
        if number % 29 != 5  # of these, nothing arrives at all
    ]
    store.suites.keep(suite, AT)
    store.records.write([run, *result])
    return result


def _features(
    probe: Probe, name: str, rng: np.random.Generator, moved: Mapping[str, float], *, missing: bool
) -> Features:
    race = probe.groups["race"]
    shift = {"black": -0.4, "white": 0.3}.get(race, 0.0) + moved.get(race, 0.0)
    values: Mapping[str, float | None] = {
        feature: float(rng.normal(shift, 0.3)) for feature in EXTRACTORS[name]
    }
    made = Features(
        at=AT,
        run_id=probe.run_id,
        probe_id=probe.id,
        response_id=response_id_of(probe),
        unit_id=probe.unit_id,
        extractor=name,
        extractor_version="1",
        values={} if missing else values,
        baseline={feature: float(rng.normal(0, 0.1)) for feature in EXTRACTORS[name]},
        unscorable=REFUSED if missing else None,
    )
    assert made.id == features_id_of(probe, name, "1")
    return made
