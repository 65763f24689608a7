"""The records on the bus, and the routes they take."""

from shared.contracts.against import Against
from shared.contracts.alarm import Alarm, AlarmKind, AlarmState, Twins
from shared.contracts.assessment import (
    Assessment,
    Cell,
    Consistency,
    CriterionGap,
    Deviation,
    ErrorGap,
    Quality,
    TotalBias,
)
from shared.contracts.brief import Brief, Measure, Subject
from shared.contracts.cancellation import Cancellation
from shared.contracts.comparison import MISSING, Comparison, Method, WatchedFeature, WatchedPair
from shared.contracts.completion import (
    FEATURES,
    JUDGING_GATHER,
    RUN_GATHER,
    ClosedBy,
    Completion,
    GatherState,
)
from shared.contracts.description import Described, Description
from shared.contracts.diagnosis import (
    Diagnosis,
    Estimate,
    Gap,
    GroupDisparity,
    GroupSummary,
    MissingTest,
    OverallTest,
    OwnGap,
    Verdict,
)
from shared.contracts.evaluation import Agreement, DimensionScore, Evaluation, Fault, Judgement
from shared.contracts.evidence import Change, Evidence, Increment, Round
from shared.contracts.exchange import Exchange
from shared.contracts.expansion import (
    asked_of,
    expected_of,
    probes_of,
    shuffled_sets,
    verdicts_expected,
)
from shared.contracts.features import ExtractorStatus, Features
from shared.contracts.identity import RecordId, Token, derived_id, token_of
from shared.contracts.monitor import (
    Monitor,
    MonitorPlan,
    MonitorState,
    ScheduledMonitor,
    Upkeep,
    next_window,
    read_at,
    window_run,
)
from shared.contracts.probe import Message, Probe, Role
from shared.contracts.record import Part, Purpose, Record
from shared.contracts.response import Ending, Response, Step, Usage
from shared.contracts.routes import (
    ROUTES,
    Route,
    features_id_of,
    record_of,
    response_id_of,
    route_of,
    subject_of,
)
from shared.contracts.run import Budget, ExtractorPin, Judging, Run
from shared.contracts.suite import Claim, Suite, SuiteProbe
from shared.contracts.target import Target, parse_target
from shared.contracts.traffic import MENTIONED, TRAFFIC, Traffic, Window, window_at
from shared.contracts.verdict import Check, Finding, PairAnswers, PairVerdict
