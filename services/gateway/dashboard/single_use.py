"""What a form asks for is done once, however often its button is pressed."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

from fastapi import Request

from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.dashboard.form_tokens import form_key
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.store.sent_forms import FormState

LOOK_EVERY_S = 0.1
PATIENCE_S = 10.0
"""How long the second press waits for the first to be done; then its page is shown as it is."""


class SingleUse:
    """Takes forms once; also of several gateways on one store, and of one that dies."""

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    async def once(
        self, request: Request, caller: Caller, act: Callable[[], Awaitable[object]]
    ) -> None:
        """Do what a form asks for, unless it is done already.

        What fails may be sent again. A note that was changed is another form.
        """
        key = form_key(caller.tenant, request.url.path, await request.body())
        if not await self._taken(key):
            return
        try:
            await act()
        except BaseException:
            await in_thread(self._store.sent_forms.give_back, key)
            raise
        await in_thread(self._store.sent_forms.finish, key)

    async def _taken(self, key: str) -> bool:
        until = asyncio.get_running_loop().time() + PATIENCE_S
        while asyncio.get_running_loop().time() < until:
            state = await in_thread(self._store.sent_forms.take, key, self._now())
            if state is not FormState.UNDER_WAY:
                return state is FormState.FIRST
            await asyncio.sleep(LOOK_EVERY_S)
        return False
