"""Recorded answers, served as a model."""

from shared.contracts.providers import Provider

PROVIDER = Provider(
    example="replay:answers.jsonl", adapter="llm.replay:Replay.connect", recorded=True
)
