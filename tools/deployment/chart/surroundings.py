"""The chart's objects around the services: network policies, scalers, monitoring, Secrets."""

from typing import Any

from tools.deployment import monitoring
from tools.deployment.chart.manifests import NAMESPACE, read, released
from tools.deployment.chart.optional_parts import to_zero
from tools.deployment.chart.templating import Block, Entries, Filled, Lines, Object, template_of
from tools.deployment.compose import PASSWORD
from tools.deployment.services import OPERATOR_SECRET, OPERATOR_TOKEN, bus_services, secrets_of
from tools.deployment.workloads import kubernetes_object


def policies() -> dict[str, str]:
    """Return the network policies: the base's, and those of what the chart brings."""
    every = ".Values.networkPolicies.enabled"
    base = read("base/network.yaml")
    for each in base:
        if each["metadata"]["name"] == "gateway":
            [rule] = each["spec"]["ingress"]
            labels = Block(".Values.networkPolicies.gatewayFrom")
            rule["from"][0]["namespaceSelector"]["matchLabels"] = labels
    database = [
        each for each in read("components/postgres/postgres.yaml")
        if each["kind"] == "NetworkPolicy"
    ]  # fmt: skip
    own = read("components/own-database/network.yaml")
    [rule] = own[0]["spec"]["egress"]
    rule["to"] = [
        Lines("{{- range .Values.database.cidrs }}\n- ipBlock:\n    cidr: {{ . }}\n{{- end }}")
    ]
    rule["ports"] = [{"protocol": "TCP", "port": Filled(".Values.database.port")}]
    simulator = read("components/simulator/network.yaml")
    return {
        "network.yaml": template_of(base, every),
        "network-nats.yaml": template_of(
            read("components/nats/network.yaml"), f"and {every} .Values.nats.enabled"
        ),
        "network-postgres.yaml": template_of(database, f"and {every} .Values.postgres.enabled"),
        "network-database.yaml": template_of(own, f"and {every} (not .Values.postgres.enabled)"),
        "network-simulator.yaml": template_of(simulator, f"and {every} .Values.simulator.enabled"),
    }


def scalers() -> dict[str, str]:
    """Return the autoscalers by CPU, and KEDA's by what waits on the bus."""
    by_cpu = [_limits(released(each), "Replicas") for each in monitoring.autoscalers()]
    for each in by_cpu:
        target = each["spec"]["metrics"][0]["resource"]["target"]
        target["averageUtilization"] = Filled(".Values.autoscaling.cpuPercent")
    by_lag = [_limits(released(each), "ReplicaCount") for each in monitoring.scalers()]
    for each in by_lag:
        if each["metadata"]["name"] == "extractor":
            to_zero(each)
        for trigger in each["spec"]["triggers"]:
            _asked(trigger["metadata"])
    return {
        "autoscalers.yaml": _each_enabled(by_cpu, "hpa"),
        "scalers.yaml": _each_enabled(by_lag, "keda"),
    }


def _limits(each: Object, suffix: str) -> Object:
    each["spec"][f"min{suffix}"] = Filled(".Values.autoscaling.minReplicas")
    each["spec"][f"max{suffix}"] = Filled(".Values.autoscaling.maxReplicas")
    return each


def _asked(metadata: Entries) -> None:
    if "serverAddress" in metadata:
        metadata["serverAddress"] = Filled(".Values.autoscaling.prometheusUrl")
        metadata["threshold"] = _waiting(metadata["threshold"])
    else:
        host = "nats-headless.{{ .Release.Namespace }}.svc.cluster.local:8222"
        metadata[Lines(f"natsServerMonitoringEndpoint: {host}")] = None
        del metadata["natsServerMonitoringEndpoint"]
        metadata["lagThreshold"] = _waiting(metadata["lagThreshold"])


def _waiting(amount: str) -> Filled:
    bundles = amount == monitoring.BUNDLES_PER_REPLICA
    name = "bundlesPerReplica" if bundles else "waitingPerReplica"
    return Filled(f".Values.autoscaling.{name} | quote")


def _each_enabled(objects: list[Object], kind: str) -> str:
    """Return the scalers of the services that are on, where this kind is chosen."""
    parts = [
        template_of([each], f".Values.services.{each['metadata']['name']}.enabled")
        for each in objects
    ]
    chosen = f'{{{{- if eq .Values.autoscaling.kind "{kind}" }}}}\n'
    return chosen + "---\n".join(parts) + "{{- end }}\n"


def monitors() -> dict[str, str]:
    """Return what the Prometheus operator and Grafana read."""
    rule = released(monitoring.rule())
    # Its texts have braces of their own, which are Prometheus's.
    rule["spec"] = Filled('.Files.Get "files/rules.yaml" | nindent 2')
    pods = released(monitoring.monitor())
    folder = {"grafana_dashboard": "1"}
    meta = {"name": "biaswatch-dashboards", "namespace": NAMESPACE, "labels": folder}
    names = ("bias.json", "platform.json")
    data = {name: Filled(f'.Files.Get "files/{name}" | toJson') for name in names}
    dashboards = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
    return {
        "rules.yaml": template_of([rule], ".Values.monitoring.rules"),
        "pod-monitor.yaml": template_of([pods], ".Values.monitoring.podMonitor"),
        "dashboards.yaml": template_of([dashboards], ".Values.monitoring.dashboards"),
    }


def external_secrets() -> str:
    """Return an ExternalSecret for every Secret that the chart's objects use."""
    names = [f"biaswatch-{service}" for service in bus_services()]
    keys = {
        f"biaswatch-{service}": ["nats.seed", *secrets_of(service)] for service in bus_services()
    }
    keys["biaswatch-operator"] = ["nats.seed", "biaswatch_store_url"]
    keys["nats-tls"] = ["ca.crt", "tls.crt", "tls.key"]
    keys["nats-authorization"] = ["authorization.conf"]
    objects = [_external(name, keys[name]) for name in sorted({*names, *keys})]
    chosen = {
        ".Values.postgres.enabled": _external("postgres", [PASSWORD]),
        ".Values.operator.enabled": _external(OPERATOR_SECRET, [OPERATOR_TOKEN]),
    }
    return template_of(objects, ".Values.externalSecrets.enabled") + "".join(
        template_of([each], f"and .Values.externalSecrets.enabled {condition}").replace(
            "apiVersion", "---\napiVersion", 1
        )
        for condition, each in chosen.items()
    )


def _external(name: str, keys: list[str]) -> Object:
    data: list[Any] = [
        {
            "secretKey": key,
            "remoteRef": {
                "key": Filled(f'printf "%s/{name}" .Values.externalSecrets.path'),
                "property": key,
            },
        }
        for key in keys
    ]
    spec = {
        "refreshInterval": "1h",
        "secretStoreRef": Block(".Values.externalSecrets.store"),
        "target": {"name": name},
        "data": data,
    }
    made = kubernetes_object("ExternalSecret", "external-secrets.io/v1", name, spec=spec)
    made["metadata"]["labels"] = {"app.kubernetes.io/part-of": "biaswatch"}
    return released(made)
