"""What two services have only by choice: the extractor a GPU, the diagnoser channels for alarms."""

import json

import yaml

from tools.deployment.chart.manifests import K8S, read
from tools.deployment.chart.templating import Block, Filled, Lines, Object, template_of
from tools.deployment.chart.values import DropIn

ON_GPU = """{{- if .Values.gpu.enabled }}
- name: BIASWATCH_EXTRACTOR_NAMES
  value: {{ .Values.gpu.extractors | quote }}
- name: BIASWATCH_EXTRACTOR_DEVICE
  value: cuda
- name: BIASWATCH_EXTRACTOR_BATCH
  value: {{ .Values.gpu.batch | quote }}
- name: HF_HOME
  value: /models
- name: HF_HUB_OFFLINE
  value: "1"
{{- end }}"""
MODELS_MOUNT = """{{- if .Values.gpu.enabled }}
- name: models
  mountPath: /models
  readOnly: true
{{- end }}"""
MODELS = """{{- if .Values.gpu.enabled }}
- name: models
  persistentVolumeClaim:
    claimName: {{ .Values.gpu.claim }}
    readOnly: true
{{- end }}"""
STRATEGY = """strategy:
  {{- if .Values.gpu.enabled }}
  type: Recreate
  {{- else }}
  type: RollingUpdate
  rollingUpdate:
    maxUnavailable: 0
    maxSurge: 1
  {{- end }}"""
ONE_BY_ONE = """{{- if .Values.gpu.enabled }}
advanced:
  horizontalPodAutoscalerConfig:
    behavior:
      scaleDown:
        policies:
          - type: Pods
            value: 1
            periodSeconds: 60
{{- end }}"""


def on_gpu(deployment: Object) -> None:
    """Let the extractor's Deployment be the one with a GPU, where that is chosen."""
    spec = deployment["spec"]
    del spec["strategy"]
    spec[Lines(STRATEGY)] = None
    pod = spec["template"]["spec"]
    [container] = pod["containers"]
    cuda = '(ternary "-cuda" "" .Values.gpu.enabled)'
    container["image"] = Filled(f'include "biaswatch.image" (list .Values "extractor" {cuda})')
    container["env"].append(Lines(ON_GPU))
    container["volumeMounts"].append(Lines(MODELS_MOUNT))
    pod["volumes"].append(Lines(MODELS))


def to_zero(scaler: Object) -> None:
    """Let KEDA's scaler of the extractor give the cards back, where it has some."""
    spec = scaler["spec"]
    least, cooldown = ".Values.autoscaling.minReplicas", spec["cooldownPeriod"]
    # Longer than a model takes to load, and a card is given back one at a time.
    spec["minReplicaCount"] = Filled(f"ternary 0 (int {least}) .Values.gpu.enabled")
    spec["cooldownPeriod"] = Filled(f"ternary 600 {cooldown} .Values.gpu.enabled")
    spec[Lines(ONE_BY_ONE)] = None


def with_channels(deployment: Object) -> None:
    """Put into the diagnoser the operator's channels, where there are any."""
    [patch] = yaml.safe_load((K8S / "components/channels/kustomization.yaml").read_text())[
        "patches"
    ]
    pod = deployment["spec"]["template"]["spec"]
    [container] = pod["containers"]
    lists = {
        "env": container["env"],
        "volumeMounts": container["volumeMounts"],
        "volumes": pod["volumes"],
    }
    for each in yaml.safe_load(patch["patch"]):
        added = yaml.safe_dump([each["value"]], sort_keys=False).rstrip()
        key = each["path"].split("/")[-2]
        lists[key].append(Lines(f"{{{{- if .Values.channels }}}}\n{added}\n{{{{- end }}}}"))


def channels() -> str:
    """Return the file of the channels, and the way to them."""
    meta = {"name": "biaswatch-channels", "namespace": Filled(".Release.Namespace")}
    file = Filled('dict "channels" .Values.channels | toYaml | quote')
    held = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta,
        "data": {"channels.yaml": file},
    }
    way = read("components/channels/network.yaml")
    policies = template_of(way, "and .Values.channels .Values.networkPolicies.enabled")
    return template_of([held], ".Values.channels") + policies.replace(
        "apiVersion", "---\napiVersion", 1
    )


OWN_SPEC = "app.kubernetes.io/name: {{ $full }}"
OWN_LABELS = f"{OWN_SPEC}\nbiaswatch.io/extractor: {{{{ $name }}}}"
CHECKSUM = """{{- if $own.extractor }}
annotations:
  # Changed code makes a new pod.
  checksum/extractor: {{ $own.extractor | sha256sum }}
{{- end }}"""
OF_DROP_IN = """{{- range $name, $given := .Values.dropIns }}
{{- $full := printf "drop-in-%s" $name }}
{{- $own := mergeOverwrite (fromJson `DEFAULTS`) $given }}
"""


def drop_ins() -> str:
    """Return a workload, and a file where one is given, for each drop-in extractor."""
    found = yaml.safe_load_all((K8S / "drop-in" / "drop-in.yaml").read_text())
    space, full = Filled("$.Release.Namespace"), Filled("$full")
    account, deployment = found
    for each in (account, deployment):
        each["metadata"] = {"name": full, "namespace": space, "labels": {Lines(OWN_LABELS): None}}
    spec = deployment["spec"]
    spec["selector"]["matchLabels"][Lines(OWN_SPEC)] = None
    template = spec["template"]
    template["metadata"]["labels"][Lines(OWN_LABELS)] = None
    template["metadata"][Lines(CHECKSUM)] = None
    pod = template["spec"]
    pod["serviceAccountName"] = full
    pod[Lines(PULLED)] = None
    [container] = pod["containers"]
    ours = '(include "biaswatch.image" (list $.Values "extractor"))'
    container["image"] = Filled(f"$own.image | default {ours}")
    container["imagePullPolicy"] = Filled("$.Values.images.pullPolicy")
    served = json.dumps(container["command"])
    container["command"] = Filled(f"$own.command | default (fromJsonArray `{served}`) | toJson")
    container["resources"] = Block("$own.resources")
    [bus] = [entry for entry in container["env"] if entry["name"] == "BIASWATCH_NATS_URL"]
    bus["value"] = Filled("$.Values.settings.BIASWATCH_NATS_URL | quote")
    volumes = {each["name"]: each for each in pod["volumes"]}
    volumes["secrets"]["secret"]["secretName"] = Filled("$own.secret")
    volumes["extractor"]["configMap"]["name"] = full
    held = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": full, "namespace": space, "labels": {Lines(OWN_LABELS): None}},
        "data": {"extractor.py": Filled("$own.extractor | toJson")},
    }
    file = template_of([held], "$own.extractor")
    begin = OF_DROP_IN.replace("DEFAULTS", json.dumps(DropIn().model_dump(by_alias=True)))
    return f"{begin}---\n{template_of([account, deployment])}---\n{file}{{{{- end }}}}\n"


PULLED = """{{- with $.Values.images.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 8 }}
{{- end }}"""


def priority(kind: str) -> Lines:
    """Return the priority of a workload that holds data, or serves, where there are classes."""
    named = f"priorityClassName: biaswatch-{kind}"
    return Lines(f"{{{{- if .Values.priorities.enabled }}}}\n{named}\n{{{{- end }}}}")


def priorities() -> str:
    """Return the classes, which are the cluster's."""
    classes = yaml.safe_load_all((K8S / "components/priorities/classes.yaml").read_text())
    return template_of(list(classes), ".Values.priorities.enabled")


def backup() -> dict[str, str]:
    """Return the job that dumps the store every night, its script, and its way outside."""
    chosen = ".Values.backup.enabled"
    objects = read("components/backup/backup.yaml")
    [job] = [each["spec"] for each in objects if each["kind"] == "CronJob"]
    job["schedule"] = Filled(".Values.backup.schedule | quote")
    pod = job["jobTemplate"]["spec"]["template"]["spec"]
    [dump], [copy] = pod["initContainers"], pod["containers"]
    dump["image"] = Filled(".Values.backup.dumpImage")
    copy["image"] = Filled(".Values.backup.copyImage")
    for variable in copy["env"]:
        if variable["name"] in {"REMOTE", "KEPT"}:
            variable["value"] = Filled(f".Values.backup.{variable['name'].lower()} | quote")
    pull = "imagePullSecrets: {{- toYaml . | nindent 12 }}"
    pod[Lines(f"{{{{- with .Values.images.pullSecrets }}}}\n{pull}\n{{{{- end }}}}")] = None
    script = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "biaswatch-backup", "namespace": Filled(".Release.Namespace")},
        "data": {"store.sh": Filled('.Files.Get "files/store.sh" | toJson')},
    }
    policies = read("components/backup/network.yaml")
    return {
        "backup.yaml": template_of([*objects, script], chosen),
        "network-backup.yaml": template_of(
            policies, f"and .Values.networkPolicies.enabled {chosen}"
        ),
    }
