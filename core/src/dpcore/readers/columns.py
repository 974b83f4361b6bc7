"""Which columns are wanted, and how their cells become numbers or text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import attrs

from dpcore.errors import InputError
from dpcore.schema import MISSING_TOKENS, Numeric, Schema

if TYPE_CHECKING:
    import pandas as pd

_LONGEST = 60
"""No more of a column's name than this is repeated in an error."""


@attrs.frozen
class Wanted:
    """What the schema asks of a file.

    Args:
        source: the file, for error texts.
        schema: None takes every column.
        target: whether the class column is wanted.
    """

    source: str
    schema: Schema | None
    target: bool

    @property
    def tokens(self) -> tuple[str, ...]:
        """The texts that mean a missing cell."""
        return MISSING_TOKENS if self.schema is None else self.schema.missing_tokens

    def is_numeric(self, name: str, unless_schema: bool = False) -> bool:
        """Whether the column holds numbers; `unless_schema` is the answer where there is no schema."""
        if self.schema is None:
            return unless_schema
        return name != self.schema.target.name and isinstance(self.schema[name], Numeric)

    def columns(self, names: list[str]) -> list[str]:
        """The columns to take, in the schema's order, from those a file has.

        Raises:
            InputError: if a name is blank, stands twice, is unknown to the schema, or lacks in the file.
        """
        if self.schema is None:
            self._check_names(names)
            return names
        needed = [*self.schema.names, *([self.schema.target.name] if self.target else [])]
        there = set(names)
        if not there.intersection(needed):
            raise InputError(
                f"{self.source!r} has none of the schema's {len(needed)} columns: "
                f"its header must name them ({listed(needed)})."
            )
        self._check_names(names)
        known = {*self.schema.names, self.schema.target.name, *self.schema.ignored}
        lacking = [n for n in needed if n not in there]
        extra = [n for n in names if n not in known]
        faults = []
        if lacking:
            what = "the class " if lacking == [self.schema.target.name] else ""
            faults.append(f"lacks {what}{listed(lacking)}")
        if extra:
            faults.append(f"has columns that the schema lacks: {listed(extra)}")
        if faults:
            raise InputError(f"{self.source!r} {' and '.join(faults)}.")
        return needed

    def _check_names(self, names: list[str]) -> None:
        first: dict[str, int] = {}
        for place, name in enumerate(names, start=1):
            if not name:
                raise InputError(f"{self.source!r}: column {place} has no name.")
            if name in first:
                raise InputError(f"{self.source!r}: columns {first[name]} and {place} have the same name.")
            first[name] = place

    def numbers(self, name: str, cells: pd.Series[Any], place: Callable[[int], str]) -> pd.Series[Any]:
        """The cells as float64, NaN where missing.

        Args:
            name: the column's name.
            cells: numbers, or text with NaN for none.
            place: where the row of an index stands in the file, in words.

        Raises:
            InputError: if a cell is neither a finite number nor missing.
        """
        import numpy as np
        import pandas as pd

        if pd.api.types.is_numeric_dtype(cells.dtype):
            values = cells.to_numpy(dtype=np.float64, na_value=np.nan)
            bad = np.isinf(values)
        else:
            text = cells.map(lambda v: str(v).strip(), na_action="ignore").astype(object)
            missing = (text.isna() | text.isin(self.tokens)).to_numpy()
            values = pd.to_numeric(text.where(~missing, np.nan), errors="coerce").to_numpy(dtype=np.float64)
            bad = (np.isnan(values) & ~missing) | np.isinf(values)
        if bad.any():
            count = int(bad.sum())
            raise InputError(
                f"{self.source!r}: attribute {name!r} is numeric, but {count} "
                f"{'cell is' if count == 1 else 'cells are'} not a finite number; "
                f"the first stands in {place(int(bad.argmax()))}."
            )
        return pd.Series(values, name=name)

    def no_rows(self) -> InputError:
        """The error for a file with a header only."""
        return InputError(f"{self.source!r} has a header but no rows.")


def listed(names: Iterable[str], most: int = 8) -> str:
    """The first of many names, for an error."""
    shown = [repr(n if len(n) <= _LONGEST else f"{n[:_LONGEST]}…") for n in names]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more
