"""What the services have that read and write files of answers, where the chart is given a place."""

from tools.deployment.chart.manifests import read
from tools.deployment.chart.templating import Filled, Lines, Object, template_of

CHOSEN = ".Values.answerFiles.uri"
PLACE = """{{- if and .Values.answerFiles.uri .Values.answerFiles.write }}
- name: BIASWATCH_RECORDER_ANSWER_FILES
  value: {{ .Values.answerFiles.uri | quote }}
{{- end }}"""
KEYS = """{{- if .Values.answerFiles.uri }}
- name: AWS_SHARED_CREDENTIALS_FILE
  value: /run/secrets/answer-files/credentials
{{- end }}"""
KEYS_MOUNT = """{{- if .Values.answerFiles.uri }}
- name: answer-files
  mountPath: /run/secrets/answer-files
  readOnly: true
{{- end }}"""
KEYS_VOLUME = """{{- if .Values.answerFiles.uri }}
- name: answer-files
  secret:
    secretName: {{ .Values.answerFiles.secret }}
    optional: true
    defaultMode: 288
{{- end }}"""


def reading_files(deployment: Object) -> None:
    """Let a service read files of answers: by an image with pyarrow, and the keys of the bucket."""
    service = deployment["metadata"]["name"]
    pod = deployment["spec"]["template"]["spec"]
    [container] = pod["containers"]
    suffix = f'(ternary "-parquet" "" (ne {CHOSEN} ""))'
    container["image"] = Filled(f'include "biaswatch.image" (list .Values "{service}" {suffix})')
    container["env"].append(Lines(KEYS))
    container["volumeMounts"].append(Lines(KEYS_MOUNT))
    pod["volumes"].append(Lines(KEYS_VOLUME))


def writing_files(deployment: Object) -> None:
    """Tell the recorder where it writes them, beside what it needs to read them."""
    reading_files(deployment)
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    container["env"].append(Lines(PLACE))


def way_to_files() -> str:
    """Return the way to the bucket."""
    policies = read("components/answer-files/network.yaml")
    return template_of(policies, f"and .Values.networkPolicies.enabled {CHOSEN}")
