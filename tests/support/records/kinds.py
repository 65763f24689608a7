"""One record of every kind: for the samples, and for tests that hold for all of them."""

from biaswatch.shared.contracts import Record
from tests.support.records.auditing import make_anchor
from tests.support.records.findings import (
    make_assessment,
    make_brief,
    make_diagnosis,
    make_evaluation,
    make_verdict,
)
from tests.support.records.labels import make_correction, make_label, make_label_sample
from tests.support.records.monitoring import (
    make_alarm,
    make_monitor,
    make_round,
    make_round_evidence,
)
from tests.support.records.pipeline import (
    make_cancellation,
    make_completion,
    make_features,
    make_probe,
    make_response,
    make_run,
)
from tests.support.records.traffic import make_description, make_exchange


def one_of_each_kind() -> list[Record]:
    """Make a record of every kind."""
    return [
        make_run(),
        make_cancellation(),
        make_probe(1),
        make_response(1),
        make_exchange(1),
        make_features(1),
        make_completion(),
        make_diagnosis(),
        make_assessment(),
        make_verdict(),
        make_brief(),
        make_evaluation(),
        make_monitor(),
        make_round(),
        make_round_evidence(),
        make_description(),
        make_label_sample(),
        make_label(),
        make_correction(),
        make_alarm(),
        make_anchor(),
    ]
