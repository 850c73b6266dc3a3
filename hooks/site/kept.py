"""Results of steps that a build repeats for each page: looked up by what they are made from.

All results of one step lie in one entry of the store, since there are hundreds, each small. What a
build does not ask for is forgotten with it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from hooks.site import inputs, workers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hooks.site.store import Store

Result = TypeVar("Result")


class Kept:
    """Results by step and by what each is made from; without a store, of this build alone."""

    def __init__(self, store: Store | None = None, seed: str = "") -> None:
        """Take a store, and a hash of the code that makes results."""
        self._store, self._seed = store, seed
        self._known: dict[str, dict[str, Any]] = {}
        self._used: dict[str, dict[str, Any]] = {}

    @property
    def is_shared(self) -> bool:
        """Whether several processes may work, and later builds take what they made."""
        return self._store is not None

    def recall(self, step: str, key: str, make: Callable[[], Result]) -> Result:
        """Return the result of a step, from an earlier build or by `make`.

        Args:
            step: The name of the step.
            key: A hash of all that the result depends on, beside the code.
            make: Makes the result anew: a value that can be pickled and that nobody changes.
        """
        known, used = self._of(step), self._used[step]
        if key not in used:
            used[key] = known[key] if key in known else make()
        result: Result = used[key]
        return result

    def recall_all(
        self, step: str, keys: Sequence[str], make: Callable[[int], Result]
    ) -> list[Result]:
        """Return the results of a step, those not known made by several processes.

        Args:
            step: The name of the step.
            keys: A hash for each result, as for `recall`.
            make: Makes the result with a number anew.
        """
        known, used = self._of(step), self._used[step]
        fresh = [at for at, key in enumerate(keys) if key not in known and key not in used]
        if self._store:
            made = workers.gather(lambda number: make(fresh[number]), len(fresh))
            used.update({keys[at]: one for at, one in zip(fresh, made, strict=True)})
        return [self.recall(step, key, partial(make, at)) for at, key in enumerate(keys)]

    def _of(self, step: str) -> dict[str, Any]:
        if step not in self._known:
            found = self._store.get(self._name(step)) if self._store else None
            self._known[step] = found if isinstance(found, dict) else {}
            self._used[step] = {}
        return self._known[step]

    def _name(self, step: str) -> str:
        return inputs.digest("kept", self._seed, step)

    def save(self) -> None:
        """Write what this build asked for, where that is not what was there."""
        for step, used in self._used.items():
            if self._store and used.keys() != self._known[step].keys():
                self._store.put(self._name(step), used)
