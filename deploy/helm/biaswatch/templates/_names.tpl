{{- define "biaswatch.image" -}}
{{- $images := (index . 0).images }}{{ $service := index . 1 }}{{ $suffix := "" }}
{{- if gt (len .) 2 }}{{ $suffix = index . 2 }}{{ end }}
{{- $images.registry }}biaswatch-{{ $service }}
{{- with get $images.digests $service }}@{{ . }}{{ else }}:{{ $images.tag }}{{ $suffix }}{{ end }}
{{- end }}
