"""Reports whose numbers and claims code controls: slots, claims, drafts, faults, repairs."""
