"""The Helm chart, written from the same objects as the other manifests."""
