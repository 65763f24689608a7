"""The definition of a BiasMonitor."""

from biaswatch.shared.contracts import TRAFFIC, Upkeep
from biaswatch.shared.requests.monitors import MonitorRequest, TrafficMonitorRequest
from tools.resource_definitions.parts import (
    MAX_TARGET_CHARACTERS,
    MOMENT,
    NUMBER,
    QUESTIONS,
    SUITE,
    TEXT,
    VERDICT,
    column,
    condition,
    target_schema,
)
from tools.structural_schema import Schema, structural

MAX_FEATURES, MAX_COMPARISONS = 50, 500
"""Limits on which the cost of rules depends."""
WATCHES = f"self.target.startsWith('{TRAFFIC}:')"
MAX_NAME_CHARACTERS = 96
"""The limit of the pattern of names; the cost of a rule depends on it."""
ALARM = {
    "type": "object",
    "required": ["id", "comparison", "what", "since", "words"],
    "properties": {"id": TEXT, "comparison": TEXT, "what": TEXT, "since": MOMENT, "words": TEXT},
}
STATUS: Schema = {
    "applied": TEXT,
    "suiteHash": TEXT,
    "monitorId": TEXT,
    "state": TEXT,
    "rounds": NUMBER,
    "verdict": VERDICT,
    **QUESTIONS,
    "gap": TEXT,
    "comparison": TEXT,
    "since": MOMENT,
    "lastRound": MOMENT,
    "nextRound": MOMENT,
    "notes": {"type": "array", "items": TEXT},
    "alarms": {"type": "array", "items": ALARM},
}
COLUMNS: list[Schema] = [
    condition("Ready"),
    condition("Alarming"),
    column("Verdict", ".status.verdict"),
    column("Gap", ".status.gap"),
    column("Since", ".status.since", kind="date"),
    # It lies ahead, which a column of the type date cannot show.
    column("Next round", ".status.nextRound"),
    column("Twins", ".status.sameTreatment", wide=True),
    column("Group effect", ".status.groupEffect", wide=True),
    column("About", ".status.about", wide=True),
    column("Comparison", ".status.comparison", wide=True),
    column("Rounds", ".status.rounds", kind="integer", wide=True),
]
SAME_FEATURE = " && ".join(
    [
        "f.extractor == g.extractor",
        "f.feature == g.feature",
        "(has(f.method) ? f.method : '') == (has(g.method) ? g.method : '')",
    ]
)


def spec() -> Schema:
    """Return the union of both kinds of files; rules say which fields belong to which."""
    asks = structural(MonitorRequest.model_json_schema())
    watches = structural(TrafficMonitorRequest.model_json_schema())
    own, theirs = asks["properties"], watches["properties"]
    del own["suite_hash"]
    both = {name: own[name] for name in own if name in theirs}
    # The name of the resource, unless said; what differs between the kinds has no default here.
    both["name"] = own["name"] | {
        "maxLength": MAX_NAME_CHARACTERS,
        "description": "The monitor's name; that of the resource, unless said. It never changes.",
    }
    both["deadline"] = {key: own["deadline"][key] for key in own["deadline"] if key != "default"}
    del both["features"]["items"]["properties"]["method"]["default"]
    both["target"] = target_schema(TRAFFIC) | {
        "description": "A model, as `provider:model[@base_url]`, or a live system: `traffic:name`."
    }
    url = structural(Upkeep.model_json_schema())["properties"]["webhook"]["pattern"]
    both["webhook"] |= {"pattern": url, "maxLength": MAX_TARGET_CHARACTERS}
    _check_features(both["features"])
    _check_comparisons(both["comparisons"])
    only_asks = {name: _optional(own[name]) for name in own if name not in theirs}
    only_watches = {name: _optional(theirs[name]) for name in theirs if name not in own}
    paused = {
        "type": "boolean",
        "description": "True pauses the monitor; changes take effect when it resumes.",
    }
    rules = [
        (f"has(self.suite) != {WATCHES}",
         "a monitor that asks a model names its suite, and a monitor of traffic has none"),
        (f"{WATCHES} ? has(self.window) : has(self.cadence)",
         "a monitor that asks a model has a cadence, and a monitor of traffic has a window"),
        (f"!{WATCHES} || !({_any_of(only_asks)})",
         f"a monitor of traffic has none of: {', '.join(sorted(only_asks))}"),
        (f"{WATCHES} || !({_any_of(only_watches)})",
         f"only a monitor of traffic has: {', '.join(sorted(only_watches))}"),
        (f"self.features.all(f, self.features.exists_one(g, {SAME_FEATURE}))",
         "a feature is watched twice by one method"),
        ("has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)",
         "the name of a monitor never changes; make another"),
    ]  # fmt: skip
    return {
        "type": "object",
        "description": "The fields of `biaswatch monitor apply`; the suite by name or by hash.",
        "required": ["target", "features", "comparisons"],
        "properties": {**both, "suite": SUITE, **only_asks, **only_watches, "paused": paused},
        "x-kubernetes-validations": [{"rule": rule, "message": message} for rule, message in rules],
    }


def _check_features(features: Schema) -> None:
    """Refuse ranges that no number fits."""
    features["maxItems"] = MAX_FEATURES
    features["items"]["properties"]["extractor"]["maxLength"] = MAX_NAME_CHARACTERS
    features["items"]["x-kubernetes-validations"] = [
        {"rule": "self.low < self.high", "message": "low must be below high"}
    ]


def _check_comparisons(comparisons: Schema) -> None:
    """Refuse a comparison that is declared twice, and of a group with itself."""
    comparisons |= {"maxItems": MAX_COMPARISONS, "x-kubernetes-list-type": "set"}
    comparisons["items"] |= {
        "x-kubernetes-map-type": "atomic",
        "x-kubernetes-validations": [
            {
                "rule": "!has(self.b) || self.a != self.b",
                "message": "a group cannot be compared with itself",
            }
        ],
    }


def _optional(schema: Schema) -> Schema:
    """Return a field that one kind of monitor has: a default would give it to the other."""
    return {key: schema[key] for key in schema if key != "default"}


def _any_of(fields: dict[str, Schema]) -> str:
    return " || ".join(f"has(self.{name})" for name in sorted(fields))
