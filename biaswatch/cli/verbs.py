"""All verbs of the command line with their summaries and modules, which are loaded lazily."""

from dataclasses import dataclass

MEASURE, WATCH, BUILD, OPERATE = "Measure", "Watch", "Build", "Operate"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb, or a group of verbs."""

    name: str
    location: str
    """Its module in this package, and its name there."""
    panel: str
    summary: str
    has_counts: bool = False
    """True if arguments may be negative numbers, which are not options."""
    remote: bool = True
    """True if it works with a remote gateway."""
    example: str = ""
    """Arguments of an example that runs in a checkout."""


VERBS = (
    Verb(
        "demo",
        "demo:demo",
        MEASURE,
        "Find a planted bias, and no bias in a fair model: simulated models, nothing to set up.",
        remote=False,
        example="demo",
    ),
    Verb(
        "run",
        "run:run",
        MEASURE,
        "Ask models the questions of a suite and show the findings. Repeated, it resumes.",
        example="run cv-hiring --target simulator:biased --repeats 5",
    ),
    Verb("runs", "runs:runs", MEASURE, "List the runs, the latest first.", example="runs --last 5"),
    Verb(
        "show",
        "runs:show",
        MEASURE,
        "Show the findings of a run: the decisive sentence first; --all shows every number.",
        example="show latest --all",
    ),
    Verb(
        "describe",
        "runs:describe",
        MEASURE,
        "Name a run, with tags and a note.",
        example="describe latest --name baseline --tag release",
    ),
    Verb(
        "stop",
        "runs:stop",
        MEASURE,
        "Stop a run before its end; its answers are kept, and the same `run` resumes it.",
        example="stop latest",
    ),
    Verb(
        "report",
        "report:report",
        MEASURE,
        "Write the findings of a run: a document, a page, JSON, CSV, flagged pairs as JSONL.",
        example="report latest -o report.html",
    ),
    Verb(
        "search",
        "search:search",
        MEASURE,
        "Look for bias anywhere in a space of scenarios. Repeated, it resumes.",
        example="search simulator:biased --space examples/desk-space.yaml --budget 300",
    ),
    Verb(
        "searches",
        "searches:app",
        MEASURE,
        "Searches for bias: list, show, cancel.",
        example="searches list",
    ),
    Verb(
        "diagnose",
        "diagnose:diagnose",
        MEASURE,
        "Show statistics by group, disparities and corrected comparisons of a run or a table.",
        example="diagnose examples/ratings.csv --group name --feature rating --set set",
    ),
    Verb(
        "compare",
        "diagnose:compare",
        MEASURE,
        "Show what changed between two runs: gaps, means, shares of missing answers.",
        example="compare 3f2a latest",
    ),
    Verb(
        "table",
        "table:table",
        MEASURE,
        "Show odds ratio, relative risk, impact ratio and tests of a 2x2 table, or of a file.",
        has_counts=True,
        remote=False,
        example="table 30 70 50 50",
    ),
    Verb(
        "interpret",
        "interpret:interpret",
        MEASURE,
        "Have a model interpret a table, and the report checked and graded.",
        has_counts=True,
        example="interpret 30 70 50 50 --target simulator:writer",
    ),
    Verb(
        "ll144",
        "ll144:ll144",
        MEASURE,
        "Write selection or scoring rates and impact ratios, by category and by combination.",
        example="ll144 examples/loans.csv --group race --score approved",
    ),
    Verb(
        "export",
        "report:export",
        MEASURE,
        "Write answers to a file; or runs, monitors and suites for other tools.",
        example="export latest -o answers.csv",
    ),
    Verb(
        "labels",
        "labels:app",
        MEASURE,
        "Labels by people: the errors of an instrument, and findings corrected for them.",
        example="labels show latest",
    ),
    Verb("up", "up:up", WATCH, "Run every service here, until Ctrl-C.", remote=False, example="up"),
    Verb(
        "status",
        "status:status",
        WATCH,
        "Show alarms, changes since yesterday, and what needs attention.",
        example="status --json",
    ),
    Verb(
        "monitor",
        "monitors:app",
        WATCH,
        "Monitors of models: rounds, evidence and alarms.",
        example="monitor list",
    ),
    Verb(
        "ingest",
        "ingest:ingest",
        WATCH,
        "Send recorded production answers; an answer sent twice counts once.",
        example="ingest shop examples/answers.jsonl --history",
    ),
    Verb(
        "channels",
        "channels:app",
        WATCH,
        "Channels that deliver alarms: list, test, retry.",
        example="channels list",
    ),
    Verb(
        "targets",
        "status:app",
        WATCH,
        "Targets that refuse every call: list, resume.",
        example="targets list",
    ),
    Verb(
        "mcp",
        "mcp:mcp",
        WATCH,
        "Serve runs, monitors, suites and plans to an agent over MCP (stdio); it only reads.",
        example="mcp",
    ),
    Verb(
        "plan",
        "plan:plan",
        BUILD,
        "Show the size a suite, a monitor or a labelled sample needs to find a gap.",
        example="plan cv-hiring --gap 0.5 --repeats 5",
    ),
    Verb(
        "build",
        "build:build",
        BUILD,
        "Build a suite from a plan; the same plan, sources and answers give the same bytes.",
        remote=False,
        example="build suites/countries/plan.yaml -o countries",
    ),
    Verb(
        "suites",
        "suites:app",
        BUILD,
        "Suites from published benchmarks, tables and answers.",
        remote=False,
        example="suites list",
    ),
    Verb(
        "extractors",
        "extractors:app",
        BUILD,
        "Extractors, which turn answers into numbers: list, test, serve, bias.",
        remote=False,
        example="extractors list",
    ),
    Verb(
        "admin",
        "admin:app",
        OPERATE,
        "Administer the platform of this machine: set-up, access, archive, purge.",
        example="admin tokens list",
    ),
    Verb(
        "login",
        "login:login",
        OPERATE,
        "Sign in at a gateway's OpenID Connect issuer; later commands use and refresh the login.",
        example="login",
    ),
    Verb(
        "logout",
        "login:logout",
        OPERATE,
        "Forget the login at a gateway, and end it at the issuer.",
        example="logout",
    ),
    Verb(
        "completion",
        "application:completion",
        OPERATE,
        "Print what a shell needs to complete the command line: bash, zsh, fish or powershell.",
        remote=False,
        example="completion bash",
    ),
)

ADMIN_VERBS = (
    Verb(
        "provision",
        "admin.installation:provision",
        OPERATE,
        "Bring the bus's streams and the store's tables to this version. Safe to repeat.",
    ),
    Verb(
        "keys",
        "admin.installation:keys",
        OPERATE,
        "Make a key for each service and the server's permissions; existing keys stay.",
    ),
    Verb("tokens", "admin.installation:app", OPERATE, "Tokens of the gateway: add, list, remove."),
    Verb("audit", "admin.audit:app", OPERATE, "The audit trail: show, verify."),
    Verb(
        "dead-letters",
        "admin.dead_letters:app",
        OPERATE,
        "Records that no service could handle: list, replay, discard.",
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
        "Answers of closed runs in Parquet, in a folder or S3: move, list, restore, verify.",
    ),
    Verb(
        "backfill",
        "admin.extraction:backfill",
        OPERATE,
        "Have an extractor measure responses that are in the store already.",
    ),
    Verb(
        "cluster",
        "admin.extraction:cluster",
        OPERATE,
        "Cluster a run's answers: clusters, nearest cluster of baselines, distances to each.",
    ),
    Verb(
        "simulate",
        "admin.simulate:simulate",
        OPERATE,
        "Plant effects in models, and errors in an instrument; count alarms and false disparities.",
    ),
)
"""Verbs of `biaswatch admin`."""
