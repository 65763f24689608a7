"""The Helm chart equals the overlays, accepts the values of its schema, and refuses others."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from biaswatch.services.operator.settings import OperatorSettings
from tests.support.helm_chart import CLUSTER_CHART, chart_findings, chart_objects, chart_refusal
from tests.support.manifests import (
    BUS_SERVICES,
    KUBERNETES,
    ROOT,
    fits_kubernetes,
    objects,
    rendered_cluster,
    run,
)

SMALL = {name: {"resources": {"requests": {"cpu": "50m"}}} for name in BUS_SERVICES}
OFF = {name: {"enabled": False} for name in ("oracle", "evaluator")}
AS_OVERLAY: dict[str, dict[str, Any]] = {
    "plain": {},
    "dev": {
        "autoscaling": {"kind": "none"},
        "services": SMALL,
        "simulator": {"enabled": True, "resources": {"requests": {"cpu": "50m"}}},
        "nats": {"replicas": 1, "resources": {"requests": {"cpu": "100m"}}},
        "postgres": {"resources": {"requests": {"cpu": "100m"}}},
        "operator": {"enabled": True},
    },
    "production": {
        "postgres": {"enabled": False},
        "autoscaling": {"kind": "keda", "minReplicas": 2},
        "monitoring": {"podMonitor": True, "rules": True, "dashboards": True},
        "priorities": {"enabled": True},
    },
}
AS_OVERLAY["production-gpu"] = {
    **AS_OVERLAY["production"],
    "gpu": {"enabled": True},
    "services": {
        "extractor": {
            "resources": {
                "requests": {"cpu": "1", "memory": "4Gi"},
                "limits": {"cpu": "4", "memory": "12Gi", "nvidia.com/gpu": "1"},
            },
            "nodeSelector": {"nvidia.com/gpu.present": "true"},
            "tolerations": [
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
            ],
        }
    },
}
AS_OVERLAY["production-channels"] = {
    **AS_OVERLAY["production"],
    "channels": {
        "oncall": {"kind": "alertmanager", "url": "http://alertmanager-operated.monitoring:9093"},
        "chat": {"kind": "apprise", "url": {"file": "/run/secrets/channels/chat_url"}},
    },
}
AS_OVERLAY["production-sign-in"] = {
    **AS_OVERLAY["production"],
    "signIn": {
        "issuer": "https://id.example.com/realms/acme",
        "client": "biaswatch",
        "cliClient": "biaswatch-cli",
        "groups": [
            {"group": "bias-admins", "role": "admin", "texts": True},
            {"group": "bias-readers", "role": "read"},
        ],
    },
}
AS_OVERLAY["production-backup"] = {**AS_OVERLAY["production"], "backup": {"enabled": True}}
AS_OVERLAY["production-files"] = {
    **AS_OVERLAY["production"],
    "answerFiles": {"uri": "s3://biaswatch-answers/live"},
    "services": {
        name: {"resources": {"requests": {"memory": least}, "limits": {"memory": most}}}
        for name, least, most in (
            ("recorder", "192Mi", "512Mi"),
            ("planner", "192Mi", "512Mi"),
            ("gateway", "224Mi", "640Mi"),
        )
    },
}
"""Values by which the chart is one of the overlays."""
DIGEST = f"sha256:{'0123456789abcdef' * 4}"
EXCLAIMS = (ROOT / "examples" / "exclaims.py").read_text()
CHOICES: dict[str, dict[str, Any]] = {
    **AS_OVERLAY,
    "outside": {
        "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "gateway-tls"},
        "images": {
            "registry": "registry.example.com/team/",
            "tag": "0.2.0",
            "digests": {"planner": DIGEST, "extractor": DIGEST},
            "pullSecrets": [{"name": "registry"}],
        },
    },
    "fixed": {
        "autoscaling": {"kind": "none"},
        "services": {
            "generator": {
                "replicas": 3,
                "env": {"BIASWATCH_GENERATOR_TRIES": "5"},
                "nodeSelector": {"pool": "models"},
                "tolerations": [{"key": "models", "operator": "Exists"}],
                "priorityClassName": "high",
            },
            **OFF,
        },
        "monitoring": {"annotations": True},
    },
    "drop-ins": {
        "dropIns": {
            "exclaims": {"extractor": EXCLAIMS},
            "other": {
                "image": "registry.example.com/other:3",
                "command": ["/other"],
                "secret": "other-key",
                "resources": {"limits": {"memory": "1Gi"}},
            },
        }
    },
    "brought": {
        "nats": {"enabled": False},
        "postgres": {"enabled": False},
        "settings": {"BIASWATCH_NATS_URL": "tls://nats.bus:4222"},
        "networkPolicies": {"enabled": False},
    },
}  # fmt: skip


@pytest.mark.parametrize("overlay", AS_OVERLAY)
def test_the_chart_equals_the_overlay(overlay: str) -> None:
    chart = _by_name(chart_objects(AS_OVERLAY[overlay]))
    kustomized = _by_name([o for o in objects(overlay) if o["kind"] != "Namespace"])
    assert chart.keys() == kustomized.keys()
    for name, resource in kustomized.items():
        assert chart[name] == resource, name


@pytest.fixture(scope="module")
def renderings() -> dict[str, str]:
    """Return what each choice of values renders."""
    return {name: yaml.safe_dump_all(chart_objects(CHOICES[name])) for name in CHOICES}


@pytest.mark.parametrize("version", KUBERNETES)
def test_renderings_fit_the_schemas_of_kubernetes(
    version: str, renderings: dict[str, str], tmp_path: Path
) -> None:
    assert len(renderings) == 12
    fits_kubernetes(version, renderings, tmp_path)


@pytest.mark.parametrize("choice", CHOICES)
def test_the_linter_only_misses_an_icon(choice: str) -> None:
    assert chart_findings(CHOICES[choice]) == ["icon is recommended"]


def test_the_chart_of_the_cluster_equals_the_kustomization_of_the_cluster() -> None:
    kustomized = [o for o in yaml.safe_load_all(rendered_cluster()) if o]
    assert _by_name(chart_objects({}, CLUSTER_CHART)) == _by_name(kustomized)
    assert chart_findings({}, CLUSTER_CHART) == ["icon is recommended"]


def test_releases_in_two_namespaces_share_no_object() -> None:
    everything = {**AS_OVERLAY["production"], "operator": {"enabled": True}}
    for namespace in ("biaswatch", "team-a"):
        release = chart_objects(everything, namespace=namespace)
        assert {o["metadata"].get("namespace") for o in release} == {namespace}
        other = "biaswatch.svc" if namespace == "team-a" else "team-a"
        assert other not in yaml.safe_dump_all(release)


def test_the_operator_serves_further_namespaces_under_a_role_of_the_cluster() -> None:
    values = {"operator": {"enabled": True, "namespaces": ["team-a", "team-b"]}}
    resources = _by_name(chart_objects(values))
    [container] = resources["Deployment", "operator"]["spec"]["template"]["spec"]["containers"]
    env = {variable["name"]: variable.get("value") for variable in container["env"]}
    served = env["BIASWATCH_OPERATOR_NAMESPACES"].replace("$(POD_NAMESPACE)", "biaswatch")
    assert OperatorSettings(operator_namespaces=json.loads(served)).operator_namespaces == (
        "biaswatch", "team-a", "team-b",
    )  # fmt: skip
    own = resources["Role", "operator"]["rules"]
    role = _by_name(chart_objects({}, CLUSTER_CHART))["ClusterRole", "biaswatch-operator"]
    # In its own namespace it also writes its records and its Lease, by name.
    assert [rule for rule in own if "resourceNames" not in rule] == role["rules"]
    assert all(rule.get("resourceNames", ["operator"]) == ["operator"] for rule in own)


def test_pods_accounts_and_objects_of_prometheus_take_labels_and_annotations() -> None:
    role = {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/gateway"}
    resources = _by_name(
        chart_objects(
            {
                "monitoring": {
                    "podMonitor": True,
                    "rules": True,
                    "additionalLabels": {"release": "stack"},
                },
                "podLabels": {"team": "fairness"},
                "podAnnotations": {"sidecar.istio.io/inject": "false"},
                "services": {
                    "gateway": {"serviceAccountAnnotations": role, "podLabels": {"team": "front"}}
                },
            }
        )
    )
    for kind in ("PodMonitor", "PrometheusRule"):
        assert resources[kind, "biaswatch"]["metadata"]["labels"]["release"] == "stack"
    assert resources["ServiceAccount", "gateway"]["metadata"]["annotations"] == role
    assert "annotations" not in resources["ServiceAccount", "planner"]["metadata"]
    for name, team in (("gateway", "front"), ("planner", "fairness")):
        deployment = resources["Deployment", name]["spec"]
        meta = deployment["template"]["metadata"]
        assert meta["labels"]["team"] == team
        assert meta["annotations"]["sidecar.istio.io/inject"] == "false"
        assert "team" not in deployment["selector"]["matchLabels"]


def test_an_image_has_its_digest_where_one_is_given() -> None:
    values = {**CHOICES["outside"], "gpu": {"enabled": True}}
    pods = {
        name: workload["spec"]["template"]["spec"]
        for (kind, name), workload in _by_name(chart_objects(values)).items()
        if kind == "Deployment"
    }
    images = {name: pod["containers"][0]["image"] for name, pod in pods.items()}
    team = "registry.example.com/team/biaswatch"
    assert images["planner"] == f"{team}-planner@{DIGEST}"
    assert images["extractor"] == f"{team}-extractor@{DIGEST}"
    assert images["gateway"] == f"{team}-gateway:0.2.0"
    assert chart_refusal({"images": {"digests": {"planner": "0.2.0"}}})


def test_values_reach_their_objects() -> None:
    fixed = _by_name(chart_objects(CHOICES["fixed"]))
    spec = fixed["Deployment", "generator"]["spec"]
    pod = spec["template"]["spec"]
    assert spec["replicas"] == 3
    assert {"name": "BIASWATCH_GENERATOR_TRIES", "value": "5"} in pod["containers"][0]["env"]
    assert pod["nodeSelector"] == {"pool": "models"}
    assert pod["priorityClassName"] == "high"
    assert ("Deployment", "oracle") not in fixed
    assert not [kind for kind, _ in fixed if kind == "HorizontalPodAutoscaler"]
    annotations = spec["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/scrape"] == "true"
    outside = _by_name(chart_objects(CHOICES["outside"]))
    pod = outside["Deployment", "diagnoser"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == "registry.example.com/team/biaswatch-diagnoser:0.2.0"
    assert pod["imagePullSecrets"] == [{"name": "registry"}]
    [rule] = outside["Ingress", "gateway"]["spec"]["rules"]
    assert rule["host"] == "biaswatch.example.com"
    brought = {kind for kind, _ in _by_name(chart_objects(CHOICES["brought"]))}
    assert not brought & {"StatefulSet", "NetworkPolicy"}


def test_an_issuer_on_a_private_address_is_reached_and_tokens_may_be_a_secret() -> None:
    sign_in = {
        "issuer": "https://id.internal", "client": "pages", "tokensSecret": "access",
        "cidrs": ["10.1.2.3/32"], "port": 8443,
    }  # fmt: skip
    chart = _by_name(chart_objects({"signIn": sign_in, "externalSecrets": {"enabled": True}}))
    [rule] = chart["NetworkPolicy", "sign-in"]["spec"]["egress"]
    assert {"ipBlock": {"cidr": "10.1.2.3/32"}} in rule["to"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 8443}]
    volumes = chart["Deployment", "gateway"]["spec"]["template"]["spec"]["volumes"]
    [access] = [volume for volume in volumes if volume["name"] == "access"]
    assert access["secret"]["secretName"] == "access"
    assert ("ConfigMap", "biaswatch-access") not in chart
    keys = [
        item["secretKey"] for item in chart["ExternalSecret", "biaswatch-gateway"]["spec"]["data"]
    ]
    assert "biaswatch_gateway_oidc_secret" in keys


def test_answer_files_are_still_read_where_none_are_written() -> None:
    files = {"uri": "s3://ours/live?region=eu-west-1&scheme=https", "secret": "ours"}
    for write in (True, False):
        resources = _by_name(chart_objects({"answerFiles": {**files, "write": write}}))
        pod = resources["Deployment", "recorder"]["spec"]["template"]["spec"]
        [container] = pod["containers"]
        env = {variable["name"]: variable["value"] for variable in container["env"]}
        place = env.get("BIASWATCH_RECORDER_ANSWER_FILES")
        assert place == (files["uri"] if write else None)
        assert container["image"] == "biaswatch-recorder:dev-parquet"
        [keys] = [volume for volume in pod["volumes"] if volume["name"] == "answer-files"]
        assert keys["secret"] == {"secretName": "ours", "optional": True, "defaultMode": 0o440}
        assert ("NetworkPolicy", "answer-files") in resources


def test_a_drop_in_equals_the_example_and_takes_its_own_image() -> None:
    resources = _by_name(chart_objects(CHOICES["drop-ins"]))
    example = _kustomized(ROOT / "deploy/k8s/examples/drop-in")
    hashed = {
        resource["metadata"]["name"]: "drop-in-exclaims"
        for resource in example if resource["kind"] == "ConfigMap"
    }  # fmt: skip
    for resource in example:
        plain = _without_hashes(resource, hashed)
        assert resources[plain["kind"], plain["metadata"]["name"]] == plain
    pod = resources["Deployment", "drop-in-other"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert container["image"] == "registry.example.com/other:3"
    assert container["command"] == ["/other"]
    assert container["resources"]["limits"]["memory"] == "1Gi"
    assert {"secretName": "other-key", "defaultMode": 288} in [
        volume.get("secret") for volume in pod["volumes"]
    ]


def test_a_drop_in_has_the_name_of_its_key() -> None:
    file = {"extractor": EXCLAIMS}
    resources = chart_objects({"dropIns": dict.fromkeys(("one", "the-other"), file)})
    names = {
        resource["metadata"]["name"]: _extractor_name(resource)
        for resource in resources
        if resource["kind"] == "Deployment" and resource["metadata"]["name"].startswith("drop-in")
    }
    assert names == {"drop-in-one": "one", "drop-in-the-other": "the-other"}
    assert chart_refusal({"dropIns": {"a_b": file}})


def test_a_drop_in_joins_the_bus_that_the_settings_name() -> None:
    several = "tls://one:4222,tls://two:4222"
    drop_ins = {"one": {"extractor": EXCLAIMS}}
    values = {"dropIns": drop_ins, "settings": {"BIASWATCH_NATS_URL": several}}
    resources = _by_name(chart_objects(values))
    [container] = resources["Deployment", "drop-in-one"]["spec"]["template"]["spec"]["containers"]
    assert {"name": "BIASWATCH_NATS_URL", "value": several} in container["env"]


def test_a_copy_of_the_example_has_the_name_of_its_folder(tmp_path: Path) -> None:
    for folder in ("drop-in", "examples/drop-in"):
        copied = tmp_path / folder.replace("examples/drop-in", "examples/shouts")
        shutil.copytree(ROOT / "deploy/k8s" / folder, copied)
    file = tmp_path / "examples/shouts/kustomization.yaml"
    text = file.read_text()
    assert text.split("apiVersion")[1].count("exclaims") == 3, "as its first line says"
    file.write_text(text.replace("exclaims", "shouts"))
    names = {
        resource["metadata"]["name"]: _extractor_name(resource)
        for folder in (ROOT / "deploy/k8s/examples/drop-in", file.parent)
        for resource in _kustomized(folder) if resource["kind"] == "Deployment"
    }  # fmt: skip
    assert names == {"drop-in-exclaims": "exclaims", "drop-in-shouts": "shouts"}


def test_a_drop_in_has_probes_a_budget_and_replicas_by_load() -> None:
    values = {"dropIns": {"one": {"extractor": EXCLAIMS, "maxReplicas": 4}}}
    resources = _by_name(chart_objects(values))
    [container] = resources["Deployment", "drop-in-one"]["spec"]["template"]["spec"]["containers"]
    assert container["command"][-2:] == ["--health-port", "9797"]
    assert container["ports"] == [{"name": "health", "containerPort": 9797}]
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()
    labels = resources["Deployment", "drop-in-one"]["spec"]["selector"]
    assert resources["PodDisruptionBudget", "drop-in-one"]["spec"]["selector"] == labels
    scaler = resources["HorizontalPodAutoscaler", "drop-in-one"]["spec"]
    assert (scaler["scaleTargetRef"]["name"], scaler["maxReplicas"]) == ("drop-in-one", 4)
    without = _by_name(chart_objects({"dropIns": {"one": {"extractor": EXCLAIMS}}}))
    assert ("HorizontalPodAutoscaler", "drop-in-one") not in without


def test_changed_code_of_a_drop_in_makes_a_new_pod_and_ends_the_old_one_first() -> None:
    def spec_of(code: str) -> Any:
        resources = chart_objects({"dropIns": {"exclaims": {"extractor": code}}})
        [deployment] = [
            resource["spec"]
            for resource in resources
            if resource["kind"] == "Deployment"
            and resource["metadata"]["name"] == "drop-in-exclaims"
        ]
        return deployment

    before, after = spec_of(EXCLAIMS), spec_of(EXCLAIMS.replace('"!"', '"?"'))
    assert before == spec_of(EXCLAIMS)
    assert before["template"] != after["template"]
    assert before["selector"] == after["selector"]
    assert before["strategy"] == {"type": "Recreate"}


def _kustomized(folder: Path) -> list[dict[str, Any]]:
    rendered = run("kubectl", "kustomize", str(folder)).stdout
    return [resource for resource in yaml.safe_load_all(rendered) if resource]


def _extractor_name(deployment: dict[str, Any]) -> str:
    """Return the name under which a drop-in's pod serves its file."""
    template = deployment["spec"]["template"]
    [container] = template["spec"]["containers"]
    [path] = [variable["valueFrom"]["fieldRef"]["fieldPath"]
              for variable in container["env"] if variable["name"] == "EXTRACTOR"]  # fmt: skip
    assert container["command"][-4:-2] == ["--name", "$(EXTRACTOR)"]
    label = re.fullmatch(r"metadata\.labels\['(.+)'\]", path)
    assert label is not None
    return str(template["metadata"]["labels"][label.group(1)])


def test_secrets_may_come_from_a_vault() -> None:
    resources = _by_name(chart_objects({"externalSecrets": {"enabled": True, "path": "team/bias"}}))
    external = {name: o for (kind, name), o in resources.items() if kind == "ExternalSecret"}
    wanted = {
        volume["secret"]["secretName"]
        for (kind, _), workload in resources.items()
        if kind in {"Deployment", "StatefulSet"}
        for volume in workload["spec"]["template"]["spec"]["volumes"]
        if "secret" in volume
    }
    assert external.keys() == wanted
    [first, *_] = external["biaswatch-generator"]["spec"]["data"]
    assert first["remoteRef"] == {"key": "team/bias/biaswatch-generator", "property": "nats.seed"}


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"natz": {}}, "natz"),
        ({"services": {"generater": {}}}, "generater"),
        ({"services": {"planner": {"replica": 2}}}, "replica"),
        ({"nats": {"replicas": 2}}, "replicas"),
        ({"autoscaling": {"kind": "magic"}}, "kind"),
        ({"answerFiles": {"url": "s3://ours"}}, "url"),
        ({"answerFiles": {"uri": "/answers"}}, "uri"),
    ],
)
def test_a_misspelt_value_is_refused_by_name(values: dict[str, Any], word: str) -> None:
    assert word in chart_refusal(values)


def _by_name(resources: list[dict[str, Any]]) -> dict[tuple[str, str], Any]:
    """Return objects by kind and name, without the hashes of settings."""
    names = [o["metadata"]["name"] for o in resources if o["kind"] == "ConfigMap"]
    pattern = re.compile(r"(biaswatch|nats)-(?!dashboards|backup)[a-z0-9]{10}")
    hashed = {match[0]: match[1] for match in map(pattern.fullmatch, names) if match}
    plain = [_without_hashes(resource, hashed) for resource in resources]
    return {(o["kind"], o["metadata"]["name"]): o for o in plain}


def _without_hashes(part: Any, hashed: dict[str, str]) -> Any:
    if isinstance(part, dict):
        # The formatting of a file may differ.
        part = {k: yaml.safe_load(v) if k == "channels.yaml" else v for k, v in part.items()}
        kept = {k: _without_hashes(v, hashed) for k, v in part.items() if k[:9] != "checksum/"}
        return {k: v for k, v in kept.items() if not (k == "annotations" and not v)}
    if isinstance(part, list):
        items = [_without_hashes(item, hashed) for item in part]
        named = all(isinstance(item, dict) and "name" in item for item in items)
        return sorted(items, key=lambda item: str(item["name"])) if named else items
    if isinstance(part, str):
        return hashed.get(part, part).rstrip("\n")
    return part
