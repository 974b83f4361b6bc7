"""From frames and arrays to encoded rows, checked against the public schema.

To learn from, a numeric value outside its bounds is clipped (when it is counted or summed), and anything else that
the schema does not allow is refused, naming the attribute and never a value. To predict, an unknown category or a
missing number becomes "nothing known".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpcore.errors import InputError
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import Rows, nominal_codes

if TYPE_CHECKING:
    import pandas as pd

_LARGEST = 1e100


def encode(frame: pd.DataFrame, schema: Schema, *, strict: bool = True, target: bool = True) -> Rows:
    """Encode a frame whose columns are named as in the schema.

    Args:
        frame: raw values; numeric columns as numbers, nominal ones as anything with a text form.
        schema: the public schema.
        strict: for rows to learn from; False for rows to predict.
        target: whether to encode the class column.

    Raises:
        InputError: for a missing or repeated column, or a value that the schema does not allow.
    """
    columns: dict[str, npt.NDArray[Any]] = {}
    for attribute in (*schema.attributes, *([schema.target] if target else [])):
        if attribute.name not in frame.columns:
            raise InputError(f"the rows lack the column {attribute.name!r}.")
        column = frame[attribute.name]
        if column.ndim != 1:
            raise InputError(f"the rows have more than one column {attribute.name!r}.")
        if isinstance(attribute, Nominal):
            must = strict or attribute is schema.target
            columns[attribute.name] = nominal_codes(column, attribute, strict=must)
        else:
            columns[attribute.name] = numbers(column.to_numpy(), attribute, strict=strict)
    return Rows(schema, columns, len(frame))


def encode_arrays(matrix: npt.NDArray[Any], labels: npt.NDArray[Any] | None, schema: Schema) -> Rows:
    """Encode a matrix of finite numbers, one column an attribute in the schema's order, without copying it.

    Args:
        matrix: shape (rows, attributes), finite except where the schema declares missing values; every
            attribute of the schema is numeric.
        labels: shape (rows,), class values, or None.
        schema: the public schema.
    """
    columns: dict[str, npt.NDArray[Any]] = {name: matrix[:, i] for i, name in enumerate(schema.names)}
    if labels is not None:
        columns[schema.target.name] = nominal_codes(labels, schema.target, strict=True)
    return Rows(schema, columns, len(matrix))


def numbers(values: npt.NDArray[Any], attribute: Numeric, *, strict: bool) -> npt.NDArray[Any]:
    """A numeric column as it is, if all of it can be used.

    Raises:
        InputError: for text, dates and other objects, an infinite or absurdly large number, or a missing one that
            the schema does not declare.
    """
    if values.dtype.kind not in "iufb":
        values = _parsed(values, attribute)
    with np.errstate(invalid="ignore", over="ignore"):  # no float below 64 bits holds the largest number
        # the ends tell whether all is well: a NaN makes both of them NaN
        if not len(values) or (values.min() > -_LARGEST and values.max() < _LARGEST):
            return values
        wrong = int(np.sum(np.abs(values) >= _LARGEST))
    unknown = np.isnan(values)
    if wrong:
        raise InputError(f"attribute {attribute.name!r}: {_counted(wrong)} infinite or beyond ±{_LARGEST:g}.")
    if strict and unknown.any() and not attribute.missing:
        raise InputError(
            f"attribute {attribute.name!r}: {_counted(int(unknown.sum()))} NaN or missing; the schema does not "
            "declare missing values for it."
        )
    return values


def _counted(cells: int) -> str:
    return "1 value is" if cells == 1 else f"{cells} values are"


def _parsed(values: npt.NDArray[Any], attribute: Numeric) -> npt.NDArray[np.float64]:
    """Objects as numbers. What pandas would only recode as numbers (dates, periods) is refused."""
    import pandas as pd

    try:
        found = None
        if values.dtype.kind in "OUT" and pd.api.types.infer_dtype(values, skipna=True) not in _RECODED:
            found = pd.to_numeric(pd.Series(values))
        if found is not None and (pd.api.types.is_object_dtype(found.dtype) or found.dtype.kind in "iufb"):
            return np.asarray(found.to_numpy(dtype=np.float64, na_value=np.nan))
    except OverflowError:
        raise InputError(f"attribute {attribute.name!r}: some values are infinite or beyond ±{_LARGEST:g}.") from None
    except Exception:  # an object's own methods may do anything; what they say may hold its value
        pass
    raise InputError(f"attribute {attribute.name!r} must be numeric; it holds text or other objects.")


_RECODED = ("complex", "date", "datetime", "datetime64", "interval", "period", "time", "timedelta", "timedelta64")
"""pandas' names of what it can store, but is no number."""
