"""The builder on the web: polite, bounded, and never inside a private network."""
