"""What the extractor does: finds its extractors, measures responses, says who is running."""
