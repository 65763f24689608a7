"""Every verb of the command line: what it is for, and where it is written; none is loaded here."""

from dataclasses import dataclass

MEASURE, WATCH, BUILD, OPERATE = "Measure", "Watch", "Build", "Operate"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb, or a group of verbs: `written` is its module below this package, and its name there.

    `counts` says that its words may be negative numbers, which are no options.
    """

    name: str
    written: str
    panel: str
    summary: str
    counts: bool = False


VERBS = (
    Verb(
        "demo",
        "run:demo",
        MEASURE,
        "Find a planted bias, and find none where none is: simulated models, nothing to set up.",
    ),
    Verb(
        "run",
        "run:run",
        MEASURE,
        "Put a suite to models and show what is found. The same command again resumes.",
    ),
    Verb("runs", "runs:runs", MEASURE, "List the runs, the latest first."),
    Verb(
        "show",
        "runs:show",
        MEASURE,
        "Show what a run found: the decisive sentence first; --all shows every number.",
    ),
    Verb(
        "cancel",
        "runs:cancel",
        MEASURE,
        "End a run before its time; what is there is kept, and the same `run` takes it up again.",
    ),
    Verb(
        "report",
        "report:report",
        MEASURE,
        "Write down what a run found: a document, a page, JSON, CSV, flagged pairs as JSONL.",
    ),
    Verb(
        "diagnose",
        "diagnose:diagnose",
        MEASURE,
        "Show statistics by group, disparities and corrected comparisons of a run or a table.",
    ),
    Verb(
        "compare",
        "compare:compare",
        MEASURE,
        "Say what changed between two runs: gaps, means, shares of missing answers.",
    ),
    Verb(
        "table",
        "table:table",
        MEASURE,
        "Show odds ratio, relative risk, impact ratio and tests of a 2x2 table, or of a file.",
        counts=True,
    ),
    Verb(
        "interpret",
        "interpret:interpret",
        MEASURE,
        "Have a table interpreted in writing, and the report checked and graded.",
        counts=True,
    ),
    Verb(
        "ll144",
        "ll144:ll144",
        MEASURE,
        "Write selection or scoring rates and impact ratios, by category and by every combination.",
    ),
    Verb(
        "export",
        "report:export",
        MEASURE,
        "Write every answer with its groups, facts, baselines and measurements to a file.",
    ),
    Verb(
        "labels",
        "labels:app",
        MEASURE,
        "Labels of people: how wrong an instrument is, and findings corrected by it.",
    ),
    Verb("up", "runs:up", WATCH, "Run every service here, until Ctrl-C."),
    Verb(
        "status",
        "status:status",
        WATCH,
        "Say what alarms, what changed since yesterday, and what waits for a person.",
    ),
    Verb("monitor", "monitors:app", WATCH, "Watch a model: rounds by cadence, honest alarms."),
    Verb(
        "ingest",
        "ingest:ingest",
        WATCH,
        "Send recorded production answers in; sent again, each still counts once.",
    ),
    Verb("channels", "channels:app", WATCH, "How alarms are sent: list, test, retry, check."),
    Verb(
        "calibrate",
        "admin.simulate:calibrate",
        WATCH,
        "Plant effects in models, and errors in an instrument; count alarms and false disparities.",
    ),
    Verb(
        "build",
        "build:build",
        BUILD,
        "Build a suite from a plan; the same plan, sources and answers give the same bytes.",
    ),
    Verb(
        "plan",
        "plan:plan",
        BUILD,
        "Say how many sets and repeats of a suite find a gap, and what it finds as it is.",
    ),
    Verb("suites", "suites:app", BUILD, "Suites from published data."),
    Verb("extractors", "extractor_calibration:app", BUILD, "What turns answers into numbers."),
    Verb("targets", "status:app", OPERATE, "Targets that refuse every call: list, resume."),
    Verb(
        "dead-letters",
        "admin.dead_letters:app",
        OPERATE,
        "Records that were given up: list, replay, discard.",
    ),
    Verb(
        "tokens",
        "admin.tokens:app",
        OPERATE,
        "Tokens of the gateway, in one file: add, list, remove.",
    ),
    Verb("audit", "admin.audit:app", OPERATE, "Who did what, when and from where: show, verify."),
    Verb(
        "keys",
        "admin.installation:keys",
        OPERATE,
        "Make a key for each service and the server's permissions; existing keys stay.",
    ),
    Verb(
        "provision",
        "admin.installation:provision",
        OPERATE,
        "Bring the bus's streams and the store's tables into this version's shape. Safe to repeat.",
    ),
    Verb(
        "purge",
        "admin.purge:purge",
        OPERATE,
        "Remove texts for good from store, archive, streams and dead letters; numbers remain.",
    ),
    Verb(
        "archive",
        "admin.archive:app",
        OPERATE,
        "Move answers of runs that are over into Parquet: a folder, or S3; and back.",
    ),
    Verb(
        "completion",
        "application:completion",
        OPERATE,
        "Print what a shell needs to complete the command line: bash, zsh, fish or powershell.",
    ),
)
