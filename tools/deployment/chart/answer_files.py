"""What the services have that read and write files of answers, where the chart is given a place."""

from tools.deployment.chart.manifests import read
from tools.deployment.chart.templating import Filled, Lines, Object, template_of

CHOSEN = ".Values.answerFiles.uri"
PLACE = """{{- if and .Values.answerFiles.uri .Values.answerFiles.write }}
- name: BIASWATCH_RECORDER_ANSWER_FILES
  value: {{ .Values.answerFiles.uri | quote }}
{{- end }}"""
KEYS = """{{- if .Values.answerFiles.uri }}
- secretRef:
    name: {{ .Values.answerFiles.secret }}
    optional: true
{{- end }}"""


def reading_files(deployment: Object) -> None:
    """Let a service read files of answers: by an image with pyarrow, and the keys of the bucket."""
    service = deployment["metadata"]["name"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    suffix = f'(ternary "-parquet" "" (ne {CHOSEN} ""))'
    container["image"] = Filled(f'include "biaswatch.image" (list .Values "{service}" {suffix})')
    container["envFrom"].append(Lines(KEYS))


def writing_files(deployment: Object) -> None:
    """Tell the recorder where it writes them, beside what it needs to read them."""
    reading_files(deployment)
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    container["env"].append(Lines(PLACE))


def way_to_files() -> str:
    """Return the way to the bucket."""
    policies = read("components/answer-files/network.yaml")
    return template_of(policies, f"and .Values.networkPolicies.enabled {CHOSEN}")
