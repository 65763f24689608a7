"""Which objects the chart holds, what Helm fills into them, and when they are left out."""

import json
from collections.abc import Callable
from pathlib import Path

import yaml

from tools.deployment import monitoring, operator
from tools.deployment.chart import optional_parts, surroundings
from tools.deployment.chart.answer_files import reading_files, way_to_files, writing_files
from tools.deployment.chart.manifests import K8S, NAMESPACE, read, released
from tools.deployment.chart.templating import (
    Block,
    Entries,
    Filled,
    Lines,
    Object,
    template_of,
    yaml_of,
)
from tools.deployment.services import NOT_ON_BUS, OPERATOR, ROOT, SIMULATOR, bus_services
from tools.deployment.workloads import provision, workload

HELPERS = """{{- define "biaswatch.image" -}}
{{- $images := (index . 0).images }}{{ $service := index . 1 }}{{ $suffix := "" }}
{{- if gt (len .) 2 }}{{ $suffix = index . 2 }}{{ end }}
{{- $images.registry }}biaswatch-{{ $service }}
{{- with get $images.digests $service }}@{{ . }}{{ else }}:{{ $images.tag }}{{ $suffix }}{{ end }}
{{- end }}
"""
CHECKSUM = """annotations:
  checksum/settings: {{ include (print $.Template.BasePath "/settings.yaml") . | sha256sum }}"""
SCRAPED = """  {{- if .Values.monitoring.annotations }}
  prometheus.io/scrape: "true"
  prometheus.io/port: "9797"
  {{- end }}"""


OPTIONAL: dict[str, tuple[Callable[[Object], None], ...]] = {
    "extractor": (optional_parts.on_gpu,),
    "diagnoser": (optional_parts.with_channels, reading_files),
    "gateway": (reading_files,),
    "planner": (reading_files,),
    "recorder": (writing_files,),
}
"""What is put into the Deployment of these services by choice."""


def templates() -> dict[str, str]:
    """Return the files of the folder templates."""
    services = bus_services()
    files = {
        "_names.tpl": HELPERS,
        "settings.yaml": _settings(),
        "nats-settings.yaml": _nats_files(),
    }
    for name in services:
        objects = [_chosen(each, name, f".Values.services.{name}") for each in workload(name)]
        [deployment] = [each for each in objects if each["kind"] == "Deployment"]
        for put_into in OPTIONAL.get(name, ()):
            put_into(deployment)
        files[f"{name}.yaml"] = template_of(objects, f".Values.services.{name}.enabled")
    files["provision.yaml"] = template_of([_prepared(each) for each in provision()])
    simulator = [_chosen(each, SIMULATOR, ".Values.simulator") for each in workload(SIMULATOR)]
    files["simulator.yaml"] = template_of(simulator, ".Values.simulator.enabled")
    files |= _operator()
    files["nats.yaml"] = template_of(_nats(), ".Values.nats.enabled")
    files["postgres.yaml"] = template_of(_postgres(), ".Values.postgres.enabled")
    files |= surroundings.policies() | surroundings.scalers() | surroundings.monitors()
    files["channels.yaml"] = optional_parts.channels()
    files |= optional_parts.backup()
    files["network-answer-files.yaml"] = way_to_files()
    files["drop-ins.yaml"] = optional_parts.drop_ins()
    files["priorities.yaml"] = optional_parts.priorities()
    files["external-secrets.yaml"] = surroundings.external_secrets()
    return files


def _operator() -> dict[str, str]:
    """Return the templates of the operator; Helm keeps its definitions when it is uninstalled."""
    chosen = ".Values.operator.enabled"
    parts = [
        *operator.rights(), *operator.roles_of_people(),
        *(_chosen(each, OPERATOR, ".Values.operator") for each in operator.operator_workload()),
    ]  # fmt: skip
    policies = [released(each) for each in operator.policies()]
    [out] = [each["spec"]["egress"][1] for each in policies if "egress" in each["spec"]]
    ranges = (
        "{{- range .Values.operator.apiServerCidrs }}\n- ipBlock:\n    cidr: {{ . }}\n{{- end }}"
    )
    out["to"] = [Lines(ranges)]
    for each in parts:
        if each["kind"] in {"Role", "RoleBinding"}:
            each["metadata"]["namespace"] = NAMESPACE
        for holder in each.get("subjects", ()):
            holder["namespace"] = NAMESPACE
    return {
        "definitions.yaml": template_of(operator.resource_definitions(), chosen),
        "operator.yaml": template_of(parts, chosen),
        "network-operator.yaml": template_of(
            policies, f"and .Values.networkPolicies.enabled {chosen}"
        ),
    }


def _image(service: str) -> Filled:
    return Filled(f'include "biaswatch.image" (list .Values "{service}")')


def _chosen(each: Object, service: str, values: str) -> Object:
    """Put the choices of a service into one of its objects."""
    each = released(each)
    if each["kind"] != "Deployment":
        return each
    template = each["spec"]["template"]
    if service not in NOT_ON_BUS:
        _annotate(template)
    pod = template["spec"]
    _pulled(pod)
    if service in NOT_ON_BUS:
        pod[optional_parts.priority("services")] = None
    [container] = pod["containers"]
    container["image"] = _image(service)
    container["imagePullPolicy"] = Filled(".Values.images.pullPolicy")
    container["resources"] = Block(f"{values}.resources")
    if service in NOT_ON_BUS:
        return each
    unscaled = f'and (eq .Values.autoscaling.kind "none") (ne {values}.replicas nil)'
    fixed = Lines(
        f"{{{{- if {unscaled} }}}}\nreplicas: {{{{ {values}.replicas }}}}\n{{{{- end }}}}"
    )
    each["spec"] = {fixed: None, **each["spec"]}
    more = "- name: {{ $name }}\n  value: {{ $value | quote }}"
    more = f"{{{{- range $name, $value := {values}.env }}}}\n{more}\n{{{{- end }}}}"
    container["env"] = [*container["env"], Lines(more)]
    for key in ("nodeSelector", "tolerations"):
        pod[_given(f"{values}.{key}", f"{key}: {{{{- toYaml . | nindent 8 }}}}")] = None
    usual = '(ternary "biaswatch-services" "" .Values.priorities.enabled)'
    chosen = f"{values}.priorityClassName | default {usual}"
    pod[_given(chosen, "priorityClassName: {{ . }}")] = None
    return each


def _given(value: str, line: str) -> Lines:
    """Return a line that is written where the value is not empty; it is the dot there."""
    return Lines(f"{{{{- with {value} }}}}\n{line}\n{{{{- end }}}}")


def _prepared(each: Object) -> Object:
    """Put the chart's images into what provisions."""
    each = released(each)
    if each["kind"] != "Deployment":
        return each
    template = each["spec"]["template"]
    _annotate(template, scraped=False)
    pod = template["spec"]
    _pulled(pod)
    pod[optional_parts.priority("services")] = None
    for container in (*pod["initContainers"], *pod["containers"]):
        container["image"] = _image("recorder")
        container["imagePullPolicy"] = Filled(".Values.images.pullPolicy")
    return each


def _annotate(template: Object, *, scraped: bool = True) -> None:
    template["metadata"][Lines(CHECKSUM + ("\n" + SCRAPED if scraped else ""))] = None


def _pulled(pod: Entries) -> None:
    pod[_given(".Values.images.pullSecrets", "imagePullSecrets: {{- toYaml . | nindent 8 }}")] = (
        None
    )


def _settings() -> str:
    return """# What every service is told.
apiVersion: v1
kind: ConfigMap
metadata:
  name: biaswatch
  namespace: {{ .Release.Namespace }}
  labels:
    app.kubernetes.io/part-of: biaswatch
data:
  BIASWATCH_STREAM_REPLICAS: {{ .Values.nats.replicas | quote }}
{{- if .Values.simulator.enabled }}
  BIASWATCH_SIMULATOR_URL: http://simulator:8090/v1
{{- end }}
{{- if .Values.gpu.enabled }}
  # With no replica nobody says that the extractors run; what they said last counts for a month.
  BIASWATCH_GATEWAY_EXTRACTOR_AGE_S: "2592000"
{{- end }}
{{- range $name, $value := .Values.settings }}
  {{ $name }}: {{ $value | quote }}
{{- end }}
"""


def _nats_files() -> str:
    return """{{- if .Values.nats.enabled }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: nats
  namespace: {{ .Release.Namespace }}
data:
  nats-server.conf: |
    {{- .Files.Get "files/nats-server.conf" | nindent 4 }}
  cluster.conf: |
    {{- if eq (int .Values.nats.replicas) 1 }}
    # One server is no cluster.
    {{- else }}
    {{- tpl (.Files.Get "files/cluster.conf") . | nindent 4 }}
    {{- end }}
{{- end }}
"""


def _nats() -> list[Object]:
    objects = read("components/nats/nats.yaml")
    for each in objects:
        if each["kind"] == "StatefulSet":
            spec = each["spec"]
            spec["replicas"] = Filled(".Values.nats.replicas")
            settings = CHECKSUM.replace("/settings", "/nats-settings")
            spec["template"]["metadata"][Lines(settings)] = None
            _stored(spec, ".Values.nats")
    return objects


def _postgres() -> list[Object]:
    objects = [
        each for each in read("components/postgres/postgres.yaml")
        if each["kind"] != "NetworkPolicy"
    ]  # fmt: skip
    for each in objects:
        if each["kind"] == "StatefulSet":
            _stored(each["spec"], ".Values.postgres")
    return objects


def _stored(spec: Object, values: str) -> None:
    """Put image, resources and storage into a StatefulSet."""
    [container] = spec["template"]["spec"]["containers"]
    container["image"] = Filled(f"{values}.image")
    container["resources"] = Block(f"{values}.resources")
    _pulled(spec["template"]["spec"])
    spec["template"]["spec"][optional_parts.priority("data")] = None
    [claim] = spec["volumeClaimTemplates"]
    claim["spec"]["resources"]["requests"]["storage"] = Filled(f"{values}.storage")
    named = (
        f"{{{{- with {values}.storageClassName }}}}\nstorageClassName: {{{{ . }}}}\n{{{{- end }}}}"
    )
    claim["spec"][Lines(named)] = None


def chart_files() -> dict[str, str]:
    """Return the files that templates read."""
    nats = K8S / "components" / "nats"
    routes = """{{- range $n := until (int .Values.nats.replicas) }}
    nats://nats-{{ $n }}.nats-headless:6222
{{- end }}"""
    cluster = (nats / "cluster.conf").read_text()
    start, end = cluster.index("    nats://nats-0"), cluster.index("  ]")
    return {
        "nats-server.conf": (nats / "nats-server.conf").read_text(),
        "cluster.conf": cluster[:start].rstrip("\n") + routes + "\n" + cluster[end:],
        "store.sh": _text(K8S / "components" / "backup" / "store.sh"),
        "rules.yaml": yaml_of(monitoring.rule()["spec"]),
        "hiring-demo.json": json.dumps(yaml.safe_load(_text(ROOT / "suites" / "hiring-demo.yaml"))),
        **{
            name: _text(K8S / "components" / "grafana" / name)
            for name in ("bias.json", "platform.json")
        },
    }


def _text(path: Path) -> str:
    return path.read_text()
