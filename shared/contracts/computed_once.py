"""A property that is computed when it is first asked for, and kept with its object."""

from functools import cached_property
from typing import Any, TypeVar, overload

T = TypeVar("T")


class computed_once(cached_property[T]):  # noqa: N801 - a decorator, as what it builds on
    """`cached_property` without the lock that it has before Python 3.12.

    The lock costs more than what it guards where several ids are asked of every record. Two
    threads may compute the same value twice, which changes nothing: records do not change.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> "computed_once[T]": ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        """Return the value, and keep it in the object, where it is found before this is asked."""
        if instance is None:
            return self
        value = self.func(instance)
        instance.__dict__[self.func.__name__] = value
        return value
