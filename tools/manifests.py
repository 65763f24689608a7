"""Write the Kubernetes manifests that follow from the code: one file per service, scalers, rules.

A service in `services/` gets its workload here; what is peculiar to it stands in PECULIAR.
"""

from pathlib import Path
from typing import Any

import yaml

from shared.bus.permissions import services as on_the_bus
from shared.contracts import ROUTES

ROOT = Path(__file__).parents[1]
K8S = ROOT / "deploy" / "k8s"
HEALTH_PORT = 9797
USER = 10001
UNREADY_S, GRACE_S, SPARE_S = 6, 30, 9
"""Unready longer than a readiness probe's period; then time to finish; then some to close."""
LONGEST_CALL_S = 130
"""Longer than the generator's BIASWATCH_GENERATOR_TIMEOUT_S, which a test holds it to."""
GREETING = "# Written by tools/manifests.py (`make manifests`); change it there.\n"

Object = dict[str, Any]

PECULIAR: dict[str, Object] = {
    "generator": {"grace_s": LONGEST_CALL_S, "memory": ("160Mi", "512Mi")},
    "extractor": {"cpu": "500m", "memory": ("160Mi", "512Mi")},
    "diagnoser": {"cpu": "500m", "memory": ("384Mi", "2Gi")},
    "gateway": {"port": 8080},
    "simulator": {"port": 8090, "component": True},
}
"""What differs from a service that only reads and writes records."""


def startable() -> list[str]:
    """Give every service that can be started."""
    return sorted(path.parent.name for path in (ROOT / "services").glob("*/app.py"))


def labels(service: str) -> Object:
    """Give the labels everything of a service carries."""
    return {"app.kubernetes.io/name": service, "app.kubernetes.io/part-of": "biaswatch"}


def _object(kind: str, version: str, name: str, service: str, **more: Any) -> Object:
    meta = {"name": name, "labels": labels(service)}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **more}


def workload(service: str) -> list[Object]:
    """Give everything one service consists of."""
    own = PECULIAR.get(service, {})
    only = {"matchLabels": {"app.kubernetes.io/name": service}}
    ports = [{"name": "health", "port": HEALTH_PORT, "targetPort": "health"}]
    if service == "simulator":
        ports = []
    if "port" in own:
        ports.insert(0, {"name": "http", "port": own["port"], "targetPort": "http"})
    return [
        _object("ServiceAccount", "v1", service, service, automountServiceAccountToken=False),
        _object("Service", "v1", service, service, spec={"selector": only["matchLabels"], "ports": ports}),
        deployment(service, own, only),
        _object(
            "PodDisruptionBudget", "policy/v1", service, service,
            spec={"maxUnavailable": 1, "selector": only},
        ),
    ]  # fmt: skip


def deployment(service: str, own: Object, only: Object) -> Object:
    """Give the Deployment of a service."""
    grace_s = own.get("grace_s", GRACE_S)
    pod = {
        "serviceAccountName": service,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": UNREADY_S + grace_s + SPARE_S,
        "securityContext": pod_security(),
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": only,
            }
        ],
        "containers": [container(service, own, grace_s)],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}}],
    }
    if service != "simulator":
        pod["volumes"].append(secret_volume(service))
    return _object(
        "Deployment", "apps/v1", service, service,
        spec={
            "replicas": 1,
            "revisionHistoryLimit": 3,
            "selector": only,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
            "template": {"metadata": {"labels": labels(service)}, "spec": pod},
        },
    )  # fmt: skip


def pod_security() -> Object:
    """Give what the restricted pod security standard asks of a pod."""
    return {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "runAsGroup": USER,
        "fsGroup": USER,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container_security() -> Object:
    """Give what the restricted pod security standard asks of a container, and a read-only root."""
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def secret_volume(service: str) -> Object:
    """Give the volume with this service's secrets and nobody else's."""
    return {
        "name": "secrets",
        "secret": {"secretName": f"biaswatch-{service}", "defaultMode": 0o440},
    }


def container(service: str, own: Object, grace_s: int) -> Object:
    """Give the container of a service."""
    least, most = own.get("memory", ("96Mi", "256Mi"))
    mounts = [{"name": "tmp", "mountPath": "/tmp"}]  # noqa: S108 - the container's own
    if service != "simulator":
        mounts.append({"name": "secrets", "mountPath": "/run/secrets/biaswatch", "readOnly": True})
    return {
        "name": service,
        "image": f"biaswatch-{service}:dev",
        "imagePullPolicy": "IfNotPresent",
        "ports": _ports(service, own),
        **_environment(service, own, grace_s),
        "resources": {
            "requests": {"cpu": own.get("cpu", "100m"), "memory": least},
            "limits": {"cpu": "2", "memory": most},
        },
        **_probes(service),
        "securityContext": container_security(),
        "volumeMounts": mounts,
    }


def _ports(service: str, own: Object) -> list[Object]:
    ports = [] if service == "simulator" else [{"name": "health", "containerPort": HEALTH_PORT}]
    return ports + ([{"name": "http", "containerPort": own["port"]}] if "port" in own else [])


def _environment(service: str, own: Object, grace_s: int) -> Object:
    if service == "simulator":
        return {"env": [{"name": "BIASWATCH_SIMULATOR_HOST", "value": "0.0.0.0"}]}  # noqa: S104
    env = {
        "BIASWATCH_NATS_SEED_FILE": "/run/secrets/biaswatch/nats.seed",
        "BIASWATCH_SECRETS_DIR": "/run/secrets/biaswatch",
        "BIASWATCH_UNREADY_S": str(UNREADY_S),
        "BIASWATCH_GRACE_S": str(grace_s),
    }
    if "port" in own:
        env[f"BIASWATCH_{service.upper()}_HOST"] = "0.0.0.0"  # noqa: S104 - in a pod of its own
    return {
        "envFrom": [{"configMapRef": {"name": "biaswatch"}}],
        "env": [{"name": name, "value": value} for name, value in env.items()],
    }


def _probes(service: str) -> Object:
    port, ready = ("http", "/healthz") if service == "simulator" else ("health", "/readyz")

    def probe(path: str, **more: int) -> Object:
        return {"httpGet": {"path": path, "port": port}, "timeoutSeconds": 3, **more}

    return {
        "startupProbe": probe("/healthz", periodSeconds=1, failureThreshold=60),
        "livenessProbe": probe("/healthz", periodSeconds=10, failureThreshold=3),
        "readinessProbe": probe(ready, periodSeconds=UNREADY_S - 1, failureThreshold=1),
    }


def provision() -> list[Object]:
    """Give the job that brings streams, durables and tables into this version's shape."""
    job = container("recorder", {}, GRACE_S)
    for absent in ("startupProbe", "livenessProbe", "readinessProbe", "ports"):
        del job[absent]
    job |= {"name": "provision", "command": ["biaswatch", "provision"]}
    job["args"] = ["--replicas", "$(BIASWATCH_STREAM_REPLICAS)"]
    pod = {
        "serviceAccountName": "provision",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "restartPolicy": "OnFailure",
        "securityContext": pod_security(),
        "containers": [job],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}}, secret_volume("operator")],
    }
    spec = {
        "backoffLimit": 20,
        "ttlSecondsAfterFinished": 3600,
        "template": {"metadata": {"labels": labels("provision")}, "spec": pod},
    }
    return [
        _object("ServiceAccount", "v1", "provision", "provision", automountServiceAccountToken=False),
        _object("Job", "batch/v1", "provision", "provision", spec=spec),
    ]  # fmt: skip


def scalers() -> list[Object]:
    """Give a KEDA scaler for every service that reads records, on what its durables say waits."""
    found = []
    for service in [name for name in startable() if name in on_the_bus()]:
        read = [route for route in ROUTES if service in route.consumers]
        if triggers := [_trigger(service, route) for route in read]:
            found.append(_scaled(service, triggers))
    return found


def _trigger(service: str, route: Any) -> Object:
    if route.by_lane:
        # The durables of lanes have names nobody knows beforehand; the service tells the sum.
        query = f'max(sum by (pod) (biaswatch_stage_lag_records{{stage="{service}"}}))'
        address = "http://prometheus-operated.monitoring.svc:9090"
        meta = {"serverAddress": address, "query": query, "threshold": "200"}
        return {"type": "prometheus", "metadata": meta}
    return {
        "type": "nats-jetstream",
        "metadata": {
            "natsServerMonitoringEndpoint": "nats-headless:8222",
            "account": "$G",
            "stream": route.stream,
            "consumer": route.durable(service),
            "lagThreshold": "500",
            "activationLagThreshold": "0",
        },
    }


def _scaled(service: str, triggers: list[Object]) -> Object:
    spec = {
        "scaleTargetRef": {"name": service},
        "minReplicaCount": 1,
        "maxReplicaCount": 8,
        "pollingInterval": 15,
        "cooldownPeriod": 300,
        "fallback": {"failureThreshold": 4, "replicas": 1},
        "triggers": triggers,
    }
    return _object("ScaledObject", "keda.sh/v1alpha1", service, service, spec=spec)


def rule() -> Object:
    """Give the alert rules as the Prometheus operator takes them."""
    groups = yaml.safe_load((ROOT / "deploy" / "prometheus" / "rules.yml").read_text())["groups"]
    return _object("PrometheusRule", "monitoring.coreos.com/v1", "biaswatch", "biaswatch", spec={"groups": groups})  # fmt: skip


def monitors() -> list[Object]:
    """Give what tells the Prometheus operator which pods to scrape."""
    names = [name for name in startable() if name != "simulator"]
    spec = {
        "selector": {
            "matchLabels": {"app.kubernetes.io/part-of": "biaswatch"},
            "matchExpressions": [
                {"key": "app.kubernetes.io/name", "operator": "In", "values": names}
            ],
        },
        "podMetricsEndpoints": [
            {
                "port": "health",
                "path": "/metrics",
                "interval": "15s",
                "relabelings": [
                    {
                        "sourceLabels": ["__meta_kubernetes_pod_label_app_kubernetes_io_name"],
                        "targetLabel": "service",
                    }
                ],
            }
        ],
    }
    return [_object("PodMonitor", "monitoring.coreos.com/v1", "biaswatch", "biaswatch", spec=spec)]


class _Plain(yaml.SafeDumper):
    """Writes every list and table out, without anchors; modes stay octal."""

    def ignore_aliases(self, data: Any) -> bool:
        """Repeat what occurs twice: a reader need not look elsewhere."""
        return True


def text_of(objects: list[Object]) -> str:
    """Give objects as a file of documents."""
    dumped = [yaml.dump(each, Dumper=_Plain, sort_keys=False, width=1000) for each in objects]
    return GREETING + "---\n" + "---\n".join(dumped)


def kustomization(resources: list[str]) -> str:
    """Give the list of a folder of generated files."""
    listed = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}
    return GREETING + yaml.dump(listed, Dumper=_Plain, sort_keys=False)  # fmt: skip


def files() -> dict[Path, str]:
    """Give every file that follows from the code."""
    base = [name for name in startable() if not PECULIAR.get(name, {}).get("component")]
    made = {K8S / "base" / "services" / f"{name}.yaml": text_of(workload(name)) for name in base}
    made[K8S / "base" / "services" / "provision.yaml"] = text_of(provision())
    listed = sorted(path.name for path in made)
    made[K8S / "base" / "services" / "kustomization.yaml"] = kustomization(listed)
    parts = K8S / "components"
    made[parts / "simulator" / "simulator.yaml"] = text_of(workload("simulator"))
    made[parts / "keda" / "scalers.yaml"] = text_of(scalers())
    made[parts / "prometheus-operator" / "rules.yaml"] = text_of([rule()])
    made[parts / "prometheus-operator" / "monitors.yaml"] = text_of(monitors())
    return made


def main() -> None:
    """Write them."""
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
