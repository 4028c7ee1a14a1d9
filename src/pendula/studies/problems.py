"""All that is wrong with a study in one error, instead of one mistake at a time."""

from __future__ import annotations

from pendula.errors import UsageError


class Problems:
    """Collects mistakes that can be found independently of each other, also those raised inside ``with problems:``.

    Example:
        >>> found = Problems("swings.toml")
        >>> found.add("one")
        >>> with found:
        ...     raise UsageError("two")
        >>> found.raise_any()
        Traceback (most recent call last):
        pendula.errors.UsageError: swings.toml: 2 problems in the study
          1. one
          2. two
    """

    def __init__(self, source: str = "") -> None:
        self._source = source
        self._found: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, text: str) -> None:
        """Adds a mistake, unless it is known."""
        if text not in self._found:
            self._found.append(text)

    def take(self, others: Problems) -> None:
        """Adds the mistakes that others have found."""
        for text in others._found:
            self.add(text)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Takes in the mistakes of a UsageError, which is not raised further."""
        for text in getattr(error, "problems", (str(error),)) if isinstance(error, UsageError) else ():
            self.add(text)
        return isinstance(error, UsageError)

    def raise_any(self) -> None:
        """Raises all mistakes, if there are any.

        Raises:
            UsageError: lists them; its ``problems`` are their texts.
        """
        if not self._found:
            return
        where = f"{self._source}: " if self._source else ""
        if len(self._found) == 1:
            error = UsageError(where + self._found[0])
        else:
            listing = "\n".join(f"  {k}. " + text.replace("\n", "\n    ") for k, text in enumerate(self._found, 1))
            error = UsageError(f"{where}{len(self._found)} problems in the study\n{listing}")
        error.problems = tuple(self._found)  # type: ignore[attr-defined]
        raise error
