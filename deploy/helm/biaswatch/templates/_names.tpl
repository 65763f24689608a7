{{- define "biaswatch.image" -}}
{{- $values := index . 0 }}{{ $service := index . 1 -}}
{{ $values.images.registry }}biaswatch-{{ $service }}:{{ $values.images.tag }}
{{- end }}
