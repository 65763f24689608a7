"""Forms are taken once on both databases, also when many gateways ask at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from biaswatch.shared.store import Store
from biaswatch.shared.store.sent_forms import ABANDONED_AFTER, KEPT, FormState
from tests.support.records import AT


def test_one_of_many_takes_a_form_and_the_others_hear_that_it_is_under_way(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        stands = list(pool.map(lambda _: store.sent_forms.take("a", AT), range(8)))
    assert sorted(stands) == [FormState.FIRST, *[FormState.UNDER_WAY] * 7]
    store.sent_forms.finish("a")
    assert store.sent_forms.take("a", AT) is FormState.DONE
    assert store.sent_forms.take("b", AT) is FormState.FIRST


def test_a_form_that_was_given_back_or_abandoned_is_taken_again(store: Store) -> None:
    store.sent_forms.take("a", AT)
    store.sent_forms.give_back("a")
    assert store.sent_forms.take("a", AT) is FormState.FIRST
    later = AT + ABANDONED_AFTER + timedelta(seconds=1)
    assert store.sent_forms.take("a", later) is FormState.FIRST
    assert store.sent_forms.take("a", later) is FormState.UNDER_WAY


def test_old_forms_are_forgotten(store: Store) -> None:
    store.sent_forms.take("a", AT)
    store.sent_forms.finish("a")
    assert store.sent_forms.take("b", AT + KEPT + timedelta(seconds=1)) is FormState.FIRST
    assert store.sent_forms.take("a", AT) is FormState.FIRST
