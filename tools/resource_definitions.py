"""Write the definitions of the custom resources from the requests of the gateway."""

import sys
from pathlib import Path
from typing import Any

import yaml

from biaswatch.services.operator.domain.conditions import (
    GROUP,
    MONITORS,
    OLDER_VERSIONS,
    RUNS,
    SEARCHES,
    SUITES,
    VERSION,
)
from biaswatch.shared.contracts import TRAFFIC, Suite, Upkeep, Verdict
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.contracts.search import (
    MOST_CONTEXTS,
    MOST_GROUPS,
    MOST_PERSONS,
    MOST_TOPICS,
    Topic,
)
from biaswatch.shared.requests.monitors import MonitorRequest, TrafficMonitorRequest
from biaswatch.shared.requests.runs import NO_JUDGE, SELF, RunRequest
from biaswatch.shared.requests.search_views import SearchRequest
from tools.structural_schema import Schema, structural

NAME = {
    "type": "string",
    "maxLength": 253,
    "description": "The name of a BiasSuite in the same namespace.",
}
HASH = {
    "type": "string",
    "pattern": "^[0-9a-f]{32}$",
    "description": "The hash of a suite that was uploaded.",
}
SUITE = {
    "type": "object",
    "description": "The suite: a BiasSuite of the same namespace, or the hash of one uploaded.",
    "properties": {"name": NAME, "hash": HASH},
    "x-kubernetes-validations": [
        {"rule": "has(self.name) != has(self.hash)", "message": "name the suite by name or by hash"}
    ],
}
MAX_TARGET_CHARACTERS = 2048
MAX_FEATURES, MAX_COMPARISONS = 50, 500
"""Limits on which the cost of rules depends."""
WATCHES = f"self.target.startsWith('{TRAFFIC}:')"
MAX_NAME_CHARACTERS = 96
"""The limit of the pattern of names; the cost of a rule depends on it."""
TEXT = {"type": "string"}
MOMENT = {"type": "string", "format": "date-time"}
NUMBER = {"type": "integer"}


CHART = Path(__file__).parents[1] / "deploy" / "helm" / "biaswatch-cluster"
PATH = CHART / "templates" / "definitions.yaml"
KEPT = {
    "helm.sh/resource-policy": "keep",
    "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
}
"""Helm, Argo and Flux keep a definition: the resources of all namespaces would go with it."""
DEPRECATION = f"This version has the same fields as {GROUP}/{VERSION}; write that one instead."
HEADER = "# Written by tools/resource_definitions.py (`make manifests`).\n"


class ManifestDumper(yaml.SafeDumper):
    """Writes repeated parts in full and indents lists under their key."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write no anchors."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists under their key."""
        super().increase_indent(flow, indentless=False)


def main() -> int:
    """Write the definitions; with --check, exit with 1 where the file is out of date."""
    text = HEADER + yaml.dump_all(
        definitions(), Dumper=ManifestDumper, sort_keys=False, width=1000, explicit_start=True
    )
    if "--check" in sys.argv:
        return int(PATH.read_text() != text)
    PATH.write_text(text)
    return 0


def definitions() -> list[dict[str, Any]]:
    """Return the definitions of all resources."""
    monitor = _monitor_spec(), MONITOR_STATUS, MONITOR_COLUMNS
    return [
        _definition("BiasMonitor", MONITORS, "bm", *monitor),
        _definition("BiasSuite", SUITES, "bs", _suite_spec(), SUITE_STATUS, SUITE_COLUMNS),
        _definition("BiasRun", RUNS, "br", _run_spec(), RUN_STATUS, RUN_COLUMNS),
        _definition("BiasSearch", SEARCHES, "bsr", _search_spec(), SEARCH_STATUS, SEARCH_COLUMNS),
    ]  # fmt: skip


def _definition(
    kind: str, plural: str, short: str, spec: Schema, status: Schema, columns: list[Schema]
) -> dict[str, Any]:
    properties = {
        "apiVersion": TEXT,
        "kind": TEXT,
        "metadata": {"type": "object"},
        "spec": spec,
        "status": _status(status),
    }
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": properties}
        },
        "subresources": {"status": {}},
        "additionalPrinterColumns": [*columns, AGE],
    }
    older = {"storage": False, "deprecated": True, "deprecationWarning": DEPRECATION}
    versions = [version, *(version | {"name": name, **older} for name in OLDER_VERSIONS)]
    names = {
        "kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower(),
        "shortNames": [short], "categories": ["biaswatch"],
    }  # fmt: skip
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{GROUP}",
            "labels": {"app.kubernetes.io/part-of": "biaswatch"},
            "annotations": KEPT,
        },
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": versions},
    }


def _monitor_spec() -> Schema:
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
    both["target"] = _target(TRAFFIC) | {
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


def _target(*more_providers: str) -> Schema:
    """Return a target: a known provider, and no user or password in its address."""
    providers = "|".join([*PROVIDERS, *more_providers])
    return {
        "type": "string",
        "maxLength": MAX_TARGET_CHARACTERS,
        "pattern": f"^({providers}):.",
        "x-kubernetes-validations": [
            {
                "rule": "!self.matches('://[^/?#]*@')",
                "message": "an address must hold no user or password; set the key instead",
            }
        ],
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


SAME_FEATURE = " && ".join(
    [
        "f.extractor == g.extractor",
        "f.feature == g.feature",
        "(has(f.method) ? f.method : '') == (has(g.method) ? g.method : '')",
    ]
)


def _optional(schema: Schema) -> Schema:
    """Return a field that one kind of monitor has: a default would give it to the other."""
    return {key: schema[key] for key in schema if key != "default"}


def _any_of(fields: dict[str, Schema]) -> str:
    return " || ".join(f"has(self.{name})" for name in sorted(fields))


def _suite_spec() -> Schema:
    content = structural(Suite.model_json_schema(), defaults=False)
    content["description"] = "The suite itself, as `biaswatch run` would upload it."
    return {
        "type": "object",
        "properties": {"content": content, "hash": HASH},
        "x-kubernetes-validations": [
            {
                "rule": "has(self.content) != has(self.hash)",
                "message": "give the suite's content, or the hash of one that was uploaded",
            }
        ],
    }


def _run_spec() -> Schema:
    fields = structural(RunRequest.model_json_schema())["properties"]
    del fields["suite_hash"]
    target = _target()
    judge = target | {"pattern": f"{target['pattern']}|^({SELF}|{NO_JUDGE})$"}
    fields["targets"]["items"], fields["judges"]["items"] = target, judge
    fields["user"] = target
    return {
        "type": "object",
        "description": "The fields of `biaswatch run`; the suite by name or by hash.",
        "required": ["suite", "targets"],
        "properties": {"suite": SUITE, **fields},
        "x-kubernetes-validations": [
            {"rule": "self == oldSelf", "message": "a run never changes; make another"}
        ],
    }


def _search_spec() -> Schema:
    """Return the request for a search; every field but the budget is immutable."""
    fields = structural(SearchRequest.model_json_schema())["properties"]
    space, topic = fields["space"]["properties"], structural(Topic.model_json_schema())
    for name, value, most in (
        ("groups", {"type": "array", "items": TEXT, "maxItems": MOST_PERSONS}, MOST_GROUPS),
        ("topics", topic, MOST_TOPICS),
        ("contexts", TEXT, MOST_CONTEXTS),
    ):
        del space[name]["x-kubernetes-preserve-unknown-fields"]
        space[name] |= {"additionalProperties": value, "maxProperties": most}
    fields["target"], fields["proposer"] = _target(), _target() | {"nullable": True}
    grows = {"rule": "self >= oldSelf", "message": "the budget of a search never falls"}
    fixed = {"rule": "self == oldSelf", "message": "only the budget of a search may change"}
    properties = {
        name: field
        | {
            "x-kubernetes-validations": [
                *field.get("x-kubernetes-validations", ()),
                grows if name == "calls" else fixed,
            ]
        }
        for name, field in fields.items()
    }
    return {
        "type": "object",
        "description": "The fields of `biaswatch search`; the space as a mapping.",
        "required": ["space", "target"],
        "properties": properties,
    }


def _status(fields: Schema) -> Schema:
    condition = {
        "type": "object",
        "required": ["type", "status", "reason", "message", "lastTransitionTime"],
        "properties": {
            "type": TEXT,
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "reason": TEXT,
            "message": TEXT,
            "lastTransitionTime": MOMENT,
        },
    }
    conditions = {
        "type": "array",
        "items": condition,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    }
    common = {"observedGeneration": {**NUMBER, "format": "int64"}, "conditions": conditions}
    return {"type": "object", "properties": {**common, **fields}}


def _column(name: str, path: str, *, kind: str = "string", wide: bool = False) -> Schema:
    column: Schema = {"name": name, "type": kind, "jsonPath": path}
    return column | ({"priority": 1} if wide else {})


def _condition(name: str) -> Schema:
    return _column(name, f'.status.conditions[?(@.type=="{name}")].status')


AGE = _column("Age", ".metadata.creationTimestamp", kind="date")
VERDICT = {"type": "string", "enum": [verdict.value for verdict in Verdict]}
QUESTIONS = {"sameTreatment": TEXT, "groupEffect": TEXT, "about": TEXT}
"""Answers about twins and the group, with their p-values, and what the verdict is about."""
ALARM = {
    "type": "object",
    "required": ["id", "comparison", "what", "since", "words"],
    "properties": {"id": TEXT, "comparison": TEXT, "what": TEXT, "since": MOMENT, "words": TEXT},
}
MONITOR_STATUS: Schema = {
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
SUITE_STATUS: Schema = {"hash": TEXT, "suite": TEXT, "probes": NUMBER}
RUN_VERDICT = {"type": "string", "enum": [*VERDICT["enum"], "not_measured"]}
RUN_STATUS: Schema = {
    "run": TEXT, "state": TEXT, "answered": TEXT, "verdict": RUN_VERDICT, "gap": TEXT,
    "comparison": TEXT, **QUESTIONS,
}  # fmt: skip
SEARCH_STATUS: Schema = {
    "search": TEXT, "state": TEXT, "budget": NUMBER, "asked": TEXT, "verdict": RUN_VERDICT,
    "findings": {"type": "array", "items": TEXT},
}  # fmt: skip
SEARCH_COLUMNS = [
    _condition("Ready"),
    _column("State", ".status.state"),
    _column("Asked", ".status.asked"),
    _column("Verdict", ".status.verdict"),
    _column("Findings", ".status.findings", wide=True),
    _column("Search", ".status.search", wide=True),
]
MONITOR_COLUMNS = [
    _condition("Ready"),
    _condition("Alarming"),
    _column("Verdict", ".status.verdict"),
    _column("Gap", ".status.gap"),
    _column("Since", ".status.since", kind="date"),
    # It lies ahead, which a column of the type date cannot show.
    _column("Next round", ".status.nextRound"),
    _column("Twins", ".status.sameTreatment", wide=True),
    _column("Group effect", ".status.groupEffect", wide=True),
    _column("About", ".status.about", wide=True),
    _column("Comparison", ".status.comparison", wide=True),
    _column("Rounds", ".status.rounds", kind="integer", wide=True),
]
SUITE_COLUMNS = [
    _condition("Ready"),
    _column("Suite", ".status.suite"),
    _column("Probes", ".status.probes", kind="integer"),
    _column("Hash", ".status.hash"),
]
RUN_COLUMNS = [
    _condition("Ready"),
    _column("State", ".status.state"),
    _column("Answered", ".status.answered"),
    _column("Verdict", ".status.verdict"),
    _column("Gap", ".status.gap"),
    _column("Twins", ".status.sameTreatment", wide=True),
    _column("Group effect", ".status.groupEffect", wide=True),
    _column("About", ".status.about", wide=True),
    _column("Comparison", ".status.comparison", wide=True),
    _column("Run", ".status.run", wide=True),
]


if __name__ == "__main__":
    sys.exit(main())
