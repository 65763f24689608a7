"""Calls are spread over clients, and clients are made no sooner than they are needed."""

from contextlib import ExitStack

from biaswatch.shared.llm.sdk_model import CALLS_PER_CLIENT, ClientPool


def test_another_client_is_made_only_when_all_are_at_their_limit() -> None:
    made = iter(range(100))
    clients = ClientPool(lambda: next(made))
    with ExitStack() as calls:
        given = [calls.enter_context(clients.one()) for _ in range(2 * CALLS_PER_CLIENT + 1)]
    assert given == [0] * CALLS_PER_CLIENT + [1] * CALLS_PER_CLIENT + [2]
    with clients.one() as client:
        assert client == 0
