"""The Kubernetes objects of the operator: its definitions, its rights, its pod, whom it reaches."""

from biaswatch.services.operator.domain.conditions import GROUP, MONITORS, RUNS, SUITES
from tools.deployment.resources.definitions import definitions
from tools.deployment.services import OPERATOR, OPERATOR_SECRET, UNREADY_S
from tools.deployment.workloads import (
    HEALTH_PORT,
    SECRETS,
    Object,
    kubernetes_object,
    labels,
    variables,
    workload,
)

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
KEPT = {"helm.sh/resource-policy": "keep"}
"""Helm removes no definition: with it go the monitors of everybody."""


def resource_definitions() -> list[Object]:
    """Return the definitions, as they are applied."""
    made = definitions()
    for each in made:
        each["metadata"]["annotations"] = dict(KEPT)
    return made


def rights() -> list[Object]:
    """Return what the operator may do, in its own namespace: no Secret, no pod, no definition."""
    plurals = [MONITORS, RUNS, SUITES]
    rules = [
        _rule([GROUP], plurals, ["get", "list", "watch", "patch"]),
        _rule([GROUP], [f"{plural}/status" for plural in plurals], ["patch"]),
        _rule([""], ["events"], ["create"]),
    ]
    version = "rbac.authorization.k8s.io/v1"
    holder = {"kind": "ServiceAccount", "name": OPERATOR}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": OPERATOR}
    return [
        kubernetes_object("Role", version, OPERATOR, rules=rules),
        kubernetes_object("RoleBinding", version, OPERATOR, roleRef=role, subjects=[holder]),
    ]


def roles_of_people() -> list[Object]:
    """Return what the cluster's roles view, edit and admin mean for the resources."""
    plurals = [MONITORS, RUNS, SUITES]
    changes = ["create", "delete", "deletecollection", "patch", "update"]
    return [
        _of_people("view", [_rule([GROUP], plurals, ["get", "list", "watch"])]),
        _of_people("edit", [_rule([GROUP], plurals, changes)], "admin"),
    ]


def _of_people(name: str, rules: list[Object], *more: str) -> Object:
    made = kubernetes_object(
        "ClusterRole", "rbac.authorization.k8s.io/v1", f"biaswatch-{name}", rules=rules
    )
    joined = {f"rbac.authorization.k8s.io/aggregate-to-{each}": "true" for each in (name, *more)}
    made["metadata"]["labels"] = labels(OPERATOR) | joined
    return made


def _rule(groups: list[str], resources: list[str], verbs: list[str]) -> Object:
    return {"apiGroups": groups, "resources": resources, "verbs": verbs}


def operator_workload() -> list[Object]:
    """Return the operator's account, address, Deployment and budget."""
    objects = workload(OPERATOR)
    [deployment] = [each for each in objects if each["kind"] == "Deployment"]
    spec = deployment["spec"]
    # One at a time: two would do everything twice.
    spec["strategy"] = {"type": "Recreate"}
    pod = spec["template"]["spec"]
    del pod["topologySpreadConstraints"]
    [container] = pod["containers"]
    container["env"] = [
        {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        *variables(
            {
                "BIASWATCH_SECRETS_DIR": SECRETS,
                "BIASWATCH_OPERATOR_GATEWAY_URL": "http://gateway:8080",
                "BIASWATCH_OPERATOR_NAMESPACES": '["$(POD_NAMESPACE)"]',
            }
        ),
    ]
    container["startupProbe"]["failureThreshold"] = 60
    container["readinessProbe"]["periodSeconds"] = UNREADY_S - 1
    container["volumeMounts"] += [
        {"name": "secrets", "mountPath": SECRETS, "readOnly": True},
        {"name": "account", "mountPath": ACCOUNT, "readOnly": True},
    ]
    pod["volumes"] += [
        {"name": "secrets", "secret": {"secretName": OPERATOR_SECRET, "defaultMode": 0o440}},
        {"name": "account", "projected": {"defaultMode": 0o440, "sources": _account()}},
    ]
    return objects


def _account() -> list[Object]:
    """Return the token of the pod's own account: no other container of the platform has one."""
    namespace = {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}
    authority = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    return [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": authority},
        {"downwardAPI": {"items": [namespace]}},
    ]


def policies() -> list[Object]:
    """Return whom the operator reaches: the gateway and the API server; Prometheus reaches it."""
    own = {"matchLabels": {"app.kubernetes.io/name": OPERATOR}}
    gateway = {"matchLabels": {"app.kubernetes.io/name": "gateway"}}
    prometheus = {"matchLabels": {"app.kubernetes.io/name": "prometheus"}}
    servers = [{"ipBlock": {"cidr": each}} for each in PRIVATE]
    out = [
        {"to": [{"podSelector": gateway}], "ports": [_port(8080)]},
        # The API server's address: that of its service, and those of the servers behind it.
        {"to": servers, "ports": [_port(443), _port(6443)]},
    ]
    scraped = {"from": [{"namespaceSelector": {}, "podSelector": prometheus}]}
    asked = {"from": [{"podSelector": own}], "ports": [_port(8080)]}
    into = {**scraped, "ports": [_port(HEALTH_PORT)]}
    return [
        _policy(OPERATOR, {"podSelector": own, "policyTypes": ["Ingress", "Egress"],
                           "ingress": [into], "egress": out}),
        _policy("gateway-operator", {"podSelector": gateway, "policyTypes": ["Ingress"],
                                     "ingress": [asked]}),
    ]  # fmt: skip


def _policy(name: str, spec: Object) -> Object:
    made = kubernetes_object("NetworkPolicy", "networking.k8s.io/v1", name, spec=spec)
    made["metadata"]["labels"] = labels(OPERATOR)
    return made


def _port(number: int) -> Object:
    return {"protocol": "TCP", "port": number}
