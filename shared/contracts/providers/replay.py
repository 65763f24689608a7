"""Recorded answers, served as a model."""

from biaswatch.shared.contracts.providers import Provider

PROVIDER = Provider(
    example="replay:answers.jsonl", adapter="llm.replay:Replay.connect", recorded=True
)
