{{/* Templates in a folder are rendered to the kustomize component of the same name: `make manifests`. */}}

{{/* An image: list .Values SERVICE [SUFFIX OF THE TAG] */}}
{{- define "biaswatch.image" -}}
{{- $images := (index . 0).images }}{{ $service := index . 1 }}{{ $suffix := "" }}
{{- if gt (len .) 2 }}{{ $suffix = index . 2 }}{{ end }}
{{- $images.registry }}biaswatch-{{ $service }}
{{- with get $images.digests $service }}@{{ . }}{{ else }}:{{ $images.tag }}{{ $suffix }}{{ end }}
{{- end }}

{{- define "biaswatch.labels" -}}
app.kubernetes.io/name: {{ . }}
app.kubernetes.io/part-of: biaswatch
{{- end }}

{{/* The templates below take a dict: root ($), name, and what is named there. */}}
{{- define "biaswatch.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "biaswatch.labels" .name | nindent 2 }}
{{- end }}

{{/* service: an entry of `services`, where there is one */}}
{{- define "biaswatch.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "biaswatch.metadata" . | nindent 2 }}
  {{- with (.service | default dict).serviceAccountAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end }}

{{- define "biaswatch.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "biaswatch.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
{{- end }}

{{/* The start of a pod's spec. priority: the class of the pod where `priorities` is enabled */}}
{{- define "biaswatch.pod" -}}
serviceAccountName: {{ .name }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if and .priority .root.Values.priorities.enabled }}
priorityClassName: {{ .priority }}
{{- end }}
{{- end }}

{{/* The security context of a pod that runs as this user. */}}
{{- define "biaswatch.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "biaswatch.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* port; ready: the path that answers when the service takes work; startupSeconds */}}
{{- define "biaswatch.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: {{ .port }}}
  timeoutSeconds: 3
  periodSeconds: 1
  failureThreshold: {{ .startupSeconds }}
livenessProbe:
  httpGet: {path: /healthz, port: {{ .port }}}
  timeoutSeconds: 3
  periodSeconds: 10
  failureThreshold: 3
readinessProbe:
  httpGet: {path: {{ .ready }}, port: {{ .port }}}
  timeoutSeconds: 3
  periodSeconds: 5
  failureThreshold: 1
{{- end }}

{{- define "biaswatch.spreadOverNodes" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        app.kubernetes.io/name: {{ . }}
{{- end }}

{{- define "biaswatch.rollingUpdate" -}}
type: RollingUpdate
rollingUpdate:
  maxUnavailable: 0
  maxSurge: 1
{{- end }}

{{/* Mounts and volumes of a pod on the bus. secret: the Secret with its key; scratch: size of /tmp */}}
{{- define "biaswatch.busMounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: secrets, mountPath: /run/secrets/biaswatch, readOnly: true}
- {name: nats-ca, mountPath: /run/secrets/nats, readOnly: true}
{{- end }}
{{- define "biaswatch.busVolumes" -}}
- name: tmp
  emptyDir: {sizeLimit: {{ .scratch | default "64Mi" }}}
- name: secrets
  secret: {secretName: {{ .secret }}, defaultMode: 0440}
# The certificate of the authority alone: the key beside it stays with the bus.
- name: nats-ca
  secret:
    secretName: nats-tls
    items: [{key: ca.crt, path: ca.crt}]
    defaultMode: 0440
{{- end }}

{{/* Peers of a network policy: all public addresses. */}}
{{- define "biaswatch.publicAddresses" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: [10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
- ipBlock:
    cidr: ::/0
    except: ["::1/128", "fc00::/7", "fe80::/10"]
{{- end }}

{{/* Variables of the gateway for `signIn`. */}}
{{- define "biaswatch.signInVariables" -}}
- {name: BIASWATCH_GATEWAY_TOKENS_FILE, value: /etc/biaswatch-access/tokens.yaml}
- {name: BIASWATCH_GATEWAY_OIDC_ISSUER, value: {{ .issuer | quote }}}
- {name: BIASWATCH_GATEWAY_OIDC_CLIENT, value: {{ .client | quote }}}
- {name: BIASWATCH_GATEWAY_OIDC_CLI_CLIENT, value: {{ .cliClient | quote }}}
- {name: BIASWATCH_GATEWAY_OIDC_AUDIENCES, value: {{ .audiences | toJson | quote }}}
- {name: BIASWATCH_GATEWAY_OIDC_GROUPS_CLAIM, value: {{ .groupsClaim | quote }}}
- {name: BIASWATCH_GATEWAY_OIDC_SCOPES, value: {{ .scopes | quote }}}
{{- end }}
