"""What administrators of a tenant do: see who did what, and remove texts for good."""
