"""The records on the bus, and the routes they take."""

from biaswatch.shared.contracts.access import Right, roles_with, session_of
from biaswatch.shared.contracts.alarm import Alarm, AlarmKind, AlarmState, Twins, open_alarms_of
from biaswatch.shared.contracts.answer_accounts import (
    ACCOUNTS,
    AccountedWindow,
    AnswerAccounts,
    AnswerKey,
    Described,
    Description,
    FirstSending,
    MemberAccounts,
    MonitoredWindow,
    SentAnswer,
    StratumUsers,
    UnwatchedSource,
    account_label,
    total,
)
from biaswatch.shared.contracts.assessment import (
    Assessment,
    Cell,
    Consistency,
    CriterionGap,
    Deviation,
    ErrorGap,
    Quality,
    TotalBias,
)
from biaswatch.shared.contracts.audit import (
    AuditAction,
    AuditAnchor,
    AuditedAct,
    AuditEntry,
    purge_subject,
)
from biaswatch.shared.contracts.brief import Brief, Measure, Subject
from biaswatch.shared.contracts.clustered_evidence import (
    ClusteredEvidence,
    FactorLevels,
    HorizonEvidence,
)
from biaswatch.shared.contracts.comparison import (
    MISSING,
    Comparison,
    Direction,
    Method,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.contracts.completion import (
    FEATURES,
    FOLLOWED_UP_FOR,
    JUDGING_GATHER,
    RUN_GATHER,
    Cancellation,
    ClosedBy,
    Completion,
    GatherState,
)
from biaswatch.shared.contracts.correction import (
    CorrectedGap,
    CorrectedGroup,
    Correction,
    LabelledComparison,
    RunningGap,
    latest_over_rounds,
)
from biaswatch.shared.contracts.diagnosis import (
    Diagnosis,
    Gap,
    GroupDisparity,
    GroupInteraction,
    GroupParity,
    GroupSummary,
    MissingTest,
    OverallTest,
    OwnGap,
    Verdicts,
)
from biaswatch.shared.contracts.evaluation import (
    Agreement,
    DimensionScore,
    Evaluation,
    Fault,
    Judgement,
    JudgeStanding,
    ProseCheck,
    UncheckedSentence,
)
from biaswatch.shared.contracts.evidence import (
    ComparisonEvidence,
    Evidence,
    Increment,
    MergedEvidence,
    Round,
    SelectionRates,
    UserCounts,
)
from biaswatch.shared.contracts.expansion import (
    drawn_sets,
    expected_of,
    probe_of,
    probes_of,
    questions_of,
    set_of,
    verdicts_expected,
)
from biaswatch.shared.contracts.identity import (
    BEGINNING_HEX_DIGITS,
    Moment,
    Name,
    RecordId,
    Token,
    derived_id,
    is_id,
    pseudonym_of,
    token_of,
)
from biaswatch.shared.contracts.label import (
    MOST_DRAWN,
    DrawnAnswer,
    Label,
    LabelDraw,
    LabelSample,
    LabelStratum,
    current_labels,
    labels_digest,
    person_id_of,
)
from biaswatch.shared.contracts.likelihood import LIKELIHOOD, ScoredOption
from biaswatch.shared.contracts.measured_share import (
    LEAST_MEASURED_SHARE,
    GroupAnswerCounts,
    GroupCounts,
    MeasuredAnswers,
)
from biaswatch.shared.contracts.mistakes import ASKS, LISTENS, as_usage_error, first_mistake
from biaswatch.shared.contracts.monitor import (
    LEAST_ALPHA,
    Monitor,
    MonitorPlan,
    MonitorState,
    PastTraffic,
    Upkeep,
    comparison_title,
    comparison_titles,
)
from biaswatch.shared.contracts.monitor_rounds import (
    ScheduledMonitor,
    next_window,
    read_at,
    taken_late,
    window_run,
    window_run_id,
)
from biaswatch.shared.contracts.pair_verdict import Check, Finding, PairAnswers, PairVerdict
from biaswatch.shared.contracts.probe import (
    CONVERSATION,
    MeasuredPart,
    Message,
    Probe,
    ReplyCondition,
    Role,
)
from biaswatch.shared.contracts.record import Part, Purpose, Record
from biaswatch.shared.contracts.response import (
    CONSTRAINED_STEP,
    LARGEST_VALUE,
    STEP_LIMIT,
    CallSpan,
    Ending,
    EvaluatedSpan,
    ExtractorStatus,
    Features,
    Reservation,
    Response,
    Step,
    Usage,
)
from biaswatch.shared.contracts.round_evidence import RoundEvidence
from biaswatch.shared.contracts.routes import (
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
from biaswatch.shared.contracts.run import Budget, ExtractorPin, Judging, Run
from biaswatch.shared.contracts.sequential_tests import (
    Bets,
    Change,
    GapTest,
    Recovery,
    Reference,
    Stretch,
)
from biaswatch.shared.contracts.suite import (
    Against,
    AnswerForm,
    Claim,
    Suite,
    SuiteHeader,
    SuiteOutline,
    SuiteProbe,
    suite_hash,
)
from biaswatch.shared.contracts.target import Target, parse_target
from biaswatch.shared.contracts.traffic import (
    LONGEST_S,
    MENTIONED,
    TRAFFIC,
    Exchange,
    Traffic,
    Window,
    Words,
    window_at,
)
from biaswatch.shared.contracts.waiting_calls import PausedTarget
from biaswatch.shared.stats.estimate import Estimate, Question, SummaryWord, Verdict
