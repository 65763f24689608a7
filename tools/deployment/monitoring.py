"""The Kubernetes objects for monitoring and scaling: HPA, KEDA, PodMonitor, alert rules."""

import yaml

from biaswatch.shared.contracts import Route
from tools.deployment.services import OPERATOR, ROOT, bus_services, routes_read_by
from tools.deployment.workloads import Object, kubernetes_object

NAMESPACE = "biaswatch"
BUS = f"nats-headless.{NAMESPACE}.svc.cluster.local:8222"
PROMETHEUS = "http://prometheus-operated.monitoring.svc.cluster.local:9090"
MOST_REPLICAS = 8
WAITING_PER_REPLICA = "500"
BUNDLES_PER_REPLICA = "50"
"""The bus counts messages; where records are bundled, one has up to 64."""


BUSY_PERCENT = 70
"""Of the CPU that a pod requests; above it another replica starts."""


def autoscalers() -> list[Object]:
    """Return an autoscaler by CPU for every service; nothing but a metrics server is needed."""
    return [_autoscaler(service) for service in bus_services()]


def _autoscaler(service: str) -> Object:
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": BUSY_PERCENT}}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": service},
        "minReplicas": 1,
        "maxReplicas": MOST_REPLICAS,
        "metrics": [{"type": "Resource", "resource": cpu}],
    }
    return kubernetes_object("HorizontalPodAutoscaler", "autoscaling/v2", service, spec=spec)


def scalers() -> list[Object]:
    """Return a KEDA scaler, by the lag of its durables, for every service that reads records."""
    return [_scaler(service) for service in bus_services() if routes_read_by(service)]


def _scaler(service: str) -> Object:
    spec = {
        "scaleTargetRef": {"name": service},
        "minReplicaCount": 1,
        "maxReplicaCount": MOST_REPLICAS,
        "pollingInterval": 15,
        "cooldownPeriod": 300,
        "fallback": {"failureThreshold": 4, "replicas": 1},
        "triggers": [_trigger(service, route) for route in routes_read_by(service)],
    }
    return kubernetes_object("ScaledObject", "keda.sh/v1alpha1", service, spec=spec)


def _trigger(service: str, route: Route) -> Object:
    stage = route.durable(service)
    if route.by_lane:
        # The names of lanes' durables are not known beforehand; the service exports their sum.
        query = f'max(biaswatch_stage_lag_records{{stage="{stage}"}})'
        meta = {"serverAddress": PROMETHEUS, "query": query, "threshold": WAITING_PER_REPLICA}
        return {"type": "prometheus", "metadata": meta}
    meta = {
        "natsServerMonitoringEndpoint": BUS,
        "account": route.stream,
        "stream": route.stream,
        "consumer": stage,
        "lagThreshold": BUNDLES_PER_REPLICA if route.bundled else WAITING_PER_REPLICA,
        "activationLagThreshold": "0",
    }
    return {"type": "nats-jetstream", "metadata": meta}


def rule() -> Object:
    """Return the alert rules as a PrometheusRule."""
    files = sorted((ROOT / "deploy" / "prometheus").glob("*rules.yml"))
    groups = [group for path in files for group in yaml.safe_load(path.read_text())["groups"]]
    spec = {"groups": groups}
    return kubernetes_object("PrometheusRule", "monitoring.coreos.com/v1", "biaswatch", spec=spec)


def monitor() -> Object:
    """Return the PodMonitor: which pods the Prometheus operator scrapes."""
    name = "app.kubernetes.io/name"
    named = {"key": name, "operator": "In", "values": [*bus_services(), OPERATOR]}
    label = "__meta_kubernetes_pod_label_app_kubernetes_io_name"
    endpoint = {
        "port": "health",
        "path": "/metrics",
        "interval": "15s",
        "relabelings": [{"sourceLabels": [label], "targetLabel": "service"}],
    }
    spec = {"selector": {"matchExpressions": [named]}, "podMetricsEndpoints": [endpoint]}
    return kubernetes_object("PodMonitor", "monitoring.coreos.com/v1", "biaswatch", spec=spec)
