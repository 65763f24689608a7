"""The Kubernetes objects of one service: account, address, Deployment, disruption budget."""

from typing import Any

from tools.deployment.services import NOT_ON_BUS, SIMULATOR, SPARE_S, UNREADY_S, spec_of

HEALTH_PORT = 9797
USER = 10001
SECRETS, AUTHORITY = "/run/secrets/biaswatch", "/run/secrets/nats"
USES_BUS, USES_STORE = "biaswatch.io/bus", "biaswatch.io/store"
"""Labels of pods that may reach the bus, and the database: a drop-in reaches the bus alone."""
PREPARED_WITHIN_S = 600
"""How long services wait for provisioning, and provisioning for the bus and the database."""

Object = dict[str, Any]


def labels(service: str) -> Object:
    """Return the labels of every object of a service."""
    return {"app.kubernetes.io/name": service, "app.kubernetes.io/part-of": "biaswatch"}


def kubernetes_object(kind: str, version: str, name: str, **more: Any) -> Object:
    """Return an object with its name and labels."""
    meta = {"name": name, "labels": labels(name)}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **more}


def workload(service: str) -> list[Object]:
    """Return the objects of one service."""
    only = {"matchLabels": {"app.kubernetes.io/name": service}}
    ports = [
        {"name": port["name"], "port": port["containerPort"], "targetPort": port["name"]}
        for port in _ports(service)
    ]
    address = {"selector": only["matchLabels"], "ports": ports}
    budget = {"maxUnavailable": 1, "selector": only}
    return [
        kubernetes_object("ServiceAccount", "v1", service, automountServiceAccountToken=False),
        kubernetes_object("Service", "v1", service, spec=address),
        _deployment(service, only),
        kubernetes_object("PodDisruptionBudget", "policy/v1", service, spec=budget),
    ]


def _deployment(service: str, only: Object) -> Object:
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": only,
    }
    pod = {
        **_pod(service, [_container(service)]),
        "terminationGracePeriodSeconds": UNREADY_S + spec_of(service).grace_s + SPARE_S,
        "topologySpreadConstraints": [spread],
    }
    surge = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    # No number of replicas: whoever scales owns it, and without one there is one.
    spec = {
        "revisionHistoryLimit": 3,
        "selector": only,
        "strategy": surge,
        "template": {"metadata": {"labels": _pod_labels(service)}, "spec": pod},
    }
    return kubernetes_object("Deployment", "apps/v1", service, spec=spec)


def provision() -> list[Object]:
    """Return what brings streams, durables and tables into this version's shape, and then rests.

    A Deployment and no Job, which nothing may change: a new image or setting is one apply.
    """
    name = "provision"
    work = {
        "name": name,
        "image": "biaswatch-recorder:dev",
        "imagePullPolicy": "IfNotPresent",
        "command": ["biaswatch", "provision"],
        "args": ["--replicas", "$(BIASWATCH_STREAM_REPLICAS)", "--wait-s", str(PREPARED_WITHIN_S)],
        **_with_bus({}),
        "resources": resources_of("recorder"),
        "securityContext": _restricted(),
        "volumeMounts": _mounts(name),
    }
    rest = {
        "name": "provisioned",
        "image": work["image"],
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", "infinity"],
        "resources": {
            "requests": {"cpu": "1m", "memory": "8Mi"},
            "limits": {"cpu": "100m", "memory": "32Mi"},
        },
        "livenessProbe": _rests(60),
        "readinessProbe": _rests(60),
        "securityContext": _restricted(),
    }
    pod = {
        **_pod(name, [rest], key="operator"),
        "initContainers": [work],
        "terminationGracePeriodSeconds": 1,
    }
    template = {"metadata": {"labels": _pod_labels(name)}, "spec": pod}
    only = {"matchLabels": {"app.kubernetes.io/name": name}}
    # One at a time, so that two versions never provision at once.
    spec = {
        "revisionHistoryLimit": 3,
        "selector": only,
        "strategy": {"type": "Recreate"},
        "template": template,
    }
    account = kubernetes_object("ServiceAccount", "v1", name, automountServiceAccountToken=False)
    return [account, kubernetes_object("Deployment", "apps/v1", name, spec=spec)]


def _rests(period_s: int) -> Object:
    """Return the probe of a container that only stays: it can always be looked into."""
    return {"exec": {"command": ["true"]}, "periodSeconds": period_s}


def _pod(service: str, containers: list[Object], *, key: str | None = None) -> Object:
    """Return a pod with the Secret of its own key, or of another."""
    scratch = spec_of(service).scratch
    volumes: list[Object] = [{"name": "tmp", "emptyDir": {"sizeLimit": scratch}}]
    if service not in NOT_ON_BUS:
        own = {"secretName": f"biaswatch-{key or service}", "defaultMode": 0o440}
        # The certificate's issuer alone: the key beside it stays with the bus.
        issuer = {"secretName": "nats-tls", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
        volumes.append({"name": "secrets", "secret": own})
        volumes.append({"name": "nats-ca", "secret": {**issuer, "defaultMode": 0o440}})
    return {
        "serviceAccountName": service,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": containers,
        "volumes": volumes,
    }


def _pod_labels(service: str) -> Object:
    used = {} if service in NOT_ON_BUS else {USES_BUS: "client", USES_STORE: "client"}
    return labels(service) | used


def _container(service: str) -> Object:
    return {
        "name": service,
        "image": f"biaswatch-{service}:dev",
        "imagePullPolicy": "IfNotPresent",
        "ports": _ports(service),
        **_environment(service),
        "resources": resources_of(service),
        **_probes(service),
        "securityContext": _restricted(),
        "volumeMounts": _mounts(service),
    }


def _restricted() -> Object:
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def resources_of(service: str) -> Object:
    """Return what a service requests and may use."""
    least, most = spec_of(service).memory
    return {
        "requests": {"cpu": spec_of(service).cpu, "memory": least},
        "limits": {"cpu": "2", "memory": most},
    }


def _mounts(service: str) -> list[Object]:
    mounts: list[Object] = [{"name": "tmp", "mountPath": "/tmp"}]  # noqa: S108 - its own
    if service not in NOT_ON_BUS:
        mounts.append({"name": "secrets", "mountPath": SECRETS, "readOnly": True})
        mounts.append({"name": "nats-ca", "mountPath": AUTHORITY, "readOnly": True})
    return mounts


def _ports(service: str) -> list[Object]:
    http = spec_of(service).port
    ports = [] if http is None else [{"name": "http", "containerPort": http}]
    if service != SIMULATOR:
        ports.append({"name": "health", "containerPort": HEALTH_PORT})
    return ports


def _environment(service: str) -> Object:
    everywhere = "0.0.0.0"  # noqa: S104 - in a pod of its own
    host = {f"BIASWATCH_{service.upper()}_HOST": everywhere} if spec_of(service).port else {}
    if service in NOT_ON_BUS:
        return {"env": variables(host)}
    waits = {
        "BIASWATCH_UNREADY_S": str(UNREADY_S),
        "BIASWATCH_GRACE_S": str(spec_of(service).grace_s),
        "BIASWATCH_WAIT_FOR_STORE_S": str(PREPARED_WITHIN_S),
    }
    return _with_bus(waits | host | dict(spec_of(service).environment))


def _with_bus(more: Object) -> Object:
    env = {"BIASWATCH_NATS_SEED_FILE": f"{SECRETS}/nats.seed", "BIASWATCH_SECRETS_DIR": SECRETS}
    return {"envFrom": [{"configMapRef": {"name": "biaswatch"}}], "env": variables(env | more)}


def variables(values: Object) -> list[Object]:
    """Return the environment of a container."""
    return [{"name": name, "value": value} for name, value in values.items()]


def _probes(service: str) -> Object:
    port, ready = ("http", "/healthz") if service == SIMULATOR else ("health", "/readyz")

    def probe(path: str, **more: int) -> Object:
        return {"httpGet": {"path": path, "port": port}, "timeoutSeconds": 3, **more}

    return {
        "startupProbe": probe("/healthz", periodSeconds=1, failureThreshold=PREPARED_WITHIN_S + 60),
        "livenessProbe": probe("/healthz", periodSeconds=10, failureThreshold=3),
        "readinessProbe": probe(ready, periodSeconds=UNREADY_S - 1, failureThreshold=1),
    }
