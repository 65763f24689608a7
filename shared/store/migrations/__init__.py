"""The store's shape, revision by revision."""
