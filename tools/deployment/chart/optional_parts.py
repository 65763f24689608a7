"""What two services have only by choice: the extractor a GPU, the diagnoser channels for alarms."""

import yaml

from tools.deployment.chart.manifests import K8S, read
from tools.deployment.chart.templating import Filled, Lines, Object, template_of

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
    container["image"] = Filled(
        f'include "biaswatch.image" (list .Values "extractor") }}}}{{{{ {cuda}'
    )
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
