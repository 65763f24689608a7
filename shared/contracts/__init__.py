"""The records on the bus, and the routes they take."""

from shared.contracts.against import Against
from shared.contracts.alarm import Alarm, AlarmKind, AlarmState, Twins, standing_of
from shared.contracts.answer_accounts import (
    ACCOUNTS,
    AnswerAccounts,
    MemberAccounts,
    account_label,
    total,
)
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
from shared.contracts.audit import AuditAction, AuditAnchor, AuditedAct, AuditEntry
from shared.contracts.brief import Brief, Measure, Subject
from shared.contracts.cancellation import Cancellation
from shared.contracts.comparison import (
    MISSING,
    Comparison,
    Direction,
    Method,
    WatchedFeature,
    WatchedPair,
)
from shared.contracts.comparison_titles import comparison_title, comparison_titles
from shared.contracts.completion import (
    FEATURES,
    FOLLOWED_UP_FOR,
    JUDGING_GATHER,
    RUN_GATHER,
    ClosedBy,
    Completion,
    GatherState,
)
from shared.contracts.correction import (
    CorrectedGap,
    CorrectedGroup,
    Correction,
    LabelledComparison,
    RunningGap,
    latest_over_rounds,
)
from shared.contracts.description import Described, Description, StratumUsers
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
from shared.contracts.evaluation import (
    Agreement,
    DimensionScore,
    Evaluation,
    Fault,
    Judgement,
    UncheckedSentence,
)
from shared.contracts.evidence import (
    Bets,
    Change,
    Evidence,
    GapTest,
    Increment,
    Recovery,
    Reference,
    Round,
    SelectionRates,
    Stretch,
    UserCounts,
)
from shared.contracts.exchange import Exchange
from shared.contracts.expansion import (
    asked_of,
    drawn_sets,
    expected_of,
    probe_of,
    probes_of,
    verdicts_expected,
)
from shared.contracts.features import ExtractorStatus, Features
from shared.contracts.identity import RecordId, Token, derived_id, token_of
from shared.contracts.judge_controls import ControlReply, JudgeStanding
from shared.contracts.label import Label, labels_digest, person_id_of, standing_labels
from shared.contracts.label_sample import (
    MOST_DRAWN,
    DrawnAnswer,
    LabelDraw,
    LabelSample,
    LabelStratum,
)
from shared.contracts.monitor import Monitor, MonitorPlan, MonitorState, PastTraffic, Upkeep
from shared.contracts.monitor_rounds import (
    ScheduledMonitor,
    next_window,
    read_at,
    taken_late,
    window_run,
    window_run_id,
)
from shared.contracts.probe import Message, Probe, Role
from shared.contracts.record import Part, Purpose, Record
from shared.contracts.response import Ending, Response, Step, Usage
from shared.contracts.round_evidence import (
    RoundEvidence,
    evidence_fields,
    evidence_in,
    increments_in,
    round_evidence,
)
from shared.contracts.routes import (
    ROUTES,
    Route,
    check_subject,
    features_id_of,
    member_features_id,
    record_of,
    response_id_of,
    route_of,
    subject_of,
)
from shared.contracts.run import Budget, ExtractorPin, Judging, Run
from shared.contracts.sent_answers import (
    AccountedWindow,
    FirstSending,
    MonitoredWindow,
    SentAnswer,
    UnwatchedSource,
)
from shared.contracts.spans import CallSpan, EvaluatedSpan
from shared.contracts.suite import Claim, Suite, SuiteHeader, SuiteProbe
from shared.contracts.suite_outline import SuiteOutline, outline_of
from shared.contracts.target import Target, parse_target
from shared.contracts.traffic import MENTIONED, TRAFFIC, Traffic, Window, window_at
from shared.contracts.verdict import Check, Finding, PairAnswers, PairVerdict
