"""A schema found privately, for rows whose bounds and classes nobody has written down.

It costs a share of the budget, and a schema from public knowledge is always better. Numeric bounds come from two
noisy histograms a column: over powers of two, then over equal bins of what the first one found. Class labels come
from a noisy histogram over all labels there could be. Categories of a nominal column come from its declared dtype
and are never read from the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.accounting import Accountant
from dpcore.errors import InputError
from dpcore.labels import find_labels
from dpcore.mechanism import Mechanism
from dpcore.noise import NoiseSource
from dpcore.partition import CutBins, EqualBins, Partition
from dpcore.privacy import Adjacency, Pure
from dpcore.query import Counts
from dpcore.schema import Attribute, Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.registry import Registry

SHARE = 0.2
"""The share of epsilon that a private schema costs; a quarter of it for the class labels."""
_POWERS = range(-30, 61)
_LARGEST = 2.0**62
_FINE = 64


def find_schema(
    columns: pd.DataFrame | npt.NDArray[Any],
    labels: npt.NDArray[Any],
    *,
    bank: Accountant,
    epsilon: float,
    adjacency: Adjacency,
    noise: NoiseSource,
    registry: Registry,
) -> Schema:
    """A schema whose every number and label is noisy or declared.

    Args:
        columns: a frame (categorical columns keep their declared categories), or a matrix of numbers.
        labels: class labels: whole numbers, texts or booleans.
        bank: charged with `SHARE` · epsilon, before any noise is drawn.
        epsilon: the whole budget of the fit.
        adjacency: for which neighbours.
        noise: where randomness comes from.
        registry: where the mechanism `geometric` and the rule `global` are found.

    Returns:
        bounds that hold most of each column, rounded to bins; classes in sorted order.

    Raises:
        InputError: for a column that is neither numeric nor of a declared categorical type, or if fewer than two
            classes are common enough to be found.
    """
    drafted = draft(columns).attributes
    target = find_labels(labels, SHARE * epsilon / 4, bank, adjacency, noise)
    numeric = [a for a in drafted if isinstance(a, Numeric)]
    finder = _Finder(SHARE * epsilon * 3 / 4 / max(1, 2 * len(numeric)), bank, adjacency, noise, registry)
    attributes: list[Attribute] = []
    for index, attribute in enumerate(drafted):
        if isinstance(attribute, Numeric):
            values = columns[:, index] if isinstance(columns, np.ndarray) else columns.iloc[:, index].to_numpy()
            attributes.append(finder.bounds(attribute, np.asarray(values, dtype=np.float64)))
        else:
            attributes.append(attribute)
    return _schema(attributes, target)


def _schema(attributes: Sequence[Attribute], classes: Sequence[str]) -> Schema:
    name = "class"
    while any(a.name == name for a in attributes):
        name += "_"
    return Schema(attributes, Nominal(name, classes), title="found privately")


def draft(columns: pd.DataFrame | npt.NDArray[Any]) -> Schema:
    """What the columns' types declare, with the widest bounds and two classes: types are public, values are not.

    Raises:
        InputError: for a column that is neither numeric nor of a declared categorical type.
    """
    if isinstance(columns, np.ndarray):
        return _schema([Numeric(f"x{i}", -_LARGEST, _LARGEST) for i in range(columns.shape[1])], ["0", "1"])
    import pandas as pd

    found: list[Attribute] = []
    for name, dtype in columns.dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype):
            found.append(Nominal(str(name), [str(c) for c in dtype.categories], missing=True))
        elif pd.api.types.is_bool_dtype(dtype):
            found.append(Nominal(str(name), ["False", "True"], missing=True))
        elif pd.api.types.is_numeric_dtype(dtype):
            integer = pd.api.types.is_integer_dtype(dtype)
            found.append(Numeric(str(name), -_LARGEST, _LARGEST, integer=integer, missing=True))
        else:
            raise InputError(
                f"column {name!r} has neither a numeric nor a categorical type: its categories would have to be "
                "read from the rows. Declare them (pandas.CategoricalDtype) or write a schema."
            )
    return _schema(found, ["0", "1"])


class _Finder:
    """Bounds of numeric columns, one after another, each from two noisy histograms."""

    def __init__(
        self, epsilon: float, bank: Accountant, adjacency: Adjacency, noise: NoiseSource, registry: Registry
    ) -> None:
        self._cost = Pure(epsilon * (1 - 2.0**-40))
        self._bank, self._adjacency, self._noise = bank, adjacency, noise
        self._mechanism: Mechanism = registry.get("mechanism", "geometric")()
        self._rule = registry.get("sensitivity", "global")()

    def bounds(self, attribute: Numeric, values: npt.NDArray[np.float64]) -> Numeric:
        """The attribute with the bounds that were found; [−1, 1] where nothing stands out of the noise."""
        powers = [2.0**k for k in _POWERS]
        cuts = CutBins(attrs.evolve(attribute, missing=True), [*(-p for p in reversed(powers)), 0.0, *powers])
        ends = [-_LARGEST, *cuts.cuts, _LARGEST]
        low, high = self._ends(cuts, ends, values, (-1.0, 1.0))
        rough = Numeric(attribute.name, low, high, missing=True)
        fine = EqualBins(rough, _FINE)
        low, high = self._ends(fine, fine.edges().tolist(), values, (low, high))
        return Numeric(attribute.name, low, high, missing=attribute.missing)

    def _ends(
        self, cells: Partition, ends: Sequence[float], values: npt.NDArray[np.float64], otherwise: tuple[float, float]
    ) -> tuple[float, float]:
        """The ends of the cells that stand out of the noise."""
        name = cells.attributes[0]
        query = Counts(cells)
        bound = self._rule.bound(query, self._adjacency, "l1")
        self._bank.charge(self._cost)
        exact = MemoryTable(_one_column(name, values)).answer(query)
        noisy = np.asarray(self._mechanism.release(exact, bound, self._cost, self._noise))
        scale = self._mechanism.calibrate(bound, self._cost).scale or 0.0
        # noise alone passes this somewhere in one column of twenty thousand
        tall = np.flatnonzero(noisy[: len(ends) - 1] > max(0.5, scale * np.log(1e4 * query.cells)))
        if not len(tall):
            return otherwise
        return float(ends[tall[0]]), float(ends[tall[-1] + 1])


def _one_column(name: str, values: npt.NDArray[np.float64]) -> Rows:
    """A table of one numeric column; the class is of no account."""
    schema = Schema([Numeric(name, -_LARGEST, _LARGEST, missing=True)], Nominal("(none)", ["0", "1"]))
    return Rows(schema, {name: values, "(none)": np.zeros(len(values), dtype=np.uint8)}, len(values))
