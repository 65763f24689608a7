"""A run whose pairs of answers a judge flagged; what models and the judge said is hostile."""

from collections.abc import Iterator
from datetime import UTC, datetime

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.shared.contracts import (
    ExtractorPin,
    Features,
    Judging,
    Record,
    derived_id,
    probes_of,
)
from biaswatch.shared.store import Store
from tests.support.bbq_rows import make_bbq_row
from tests.support.records import make_response, make_run, make_verdict

PAIRS = 4
SCAFFOLD = "reason_and_choose"
SUITE = suite_of([BbqRow.model_validate(make_bbq_row(n)) for n in range(2 * PAIRS)], name="judged")
RUN = make_run(
    suite=SUITE.name, suite_hash=SUITE.hash, scaffolds=(SCAFFOLD,), judging=Judging(),
    extractors=(ExtractorPin(name="choice", version="3"),),
)  # fmt: skip


def write_judged_run(store: Store, hostile: str) -> None:
    """Write the run, its answers and a flag of each pair."""
    store.suites.keep(SUITE, datetime.now(UTC))
    store.records.write([RUN, *_answers(hostile), *_verdicts(hostile)])


def _answers(hostile: str) -> Iterator[Record]:
    for probe in probes_of(RUN, SUITE, RUN.at):
        response = make_response(probe=probe, text=f"{hostile}, therefore. Answer: A")
        yield response
        yield Features(
            at=RUN.at, run_id=RUN.id, probe_id=probe.id, response_id=response.id,
            unit_id=probe.unit_id, extractor="choice", extractor_version="3",
            values={"chosen": 0.0, "correct": float(probe.expected == "A")},
        )  # fmt: skip


def _verdicts(hostile: str) -> Iterator[Record]:
    sets = dict.fromkeys(str(probe.set) for probe in SUITE.probes)
    for number, name in enumerate(sets):
        yield make_verdict(
            run_id=RUN.id, pair_id=derived_id("pair", number), set_id=name,
            target=RUN.targets[0].name, scaffold=SCAFFOLD,
            explanations={"flag_1": f"It speaks of {hostile}."},
        )  # fmt: skip
