"""Bins between the smallest and the largest value of the rows.

The mistake: every numeric attribute is cut into equal parts of the range that its rows take, as `numpy.histogram` does.
Every row still falls into one cell, so the author keeps the sensitivity of a histogram.

What it costs: one row beyond the others moves all the bins, and with them up to all n rows: (2 n + 1) epsilon, without
end as n grows.
"""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from dpcore.partition import Codes, EqualBins, Partition, Values, View
from dpcore.schema import Attribute, Nominal
from planted_bounds_from_data.tables import TableModel, Tables


@attrs.frozen
class DataBins(EqualBins):
    """Bins of equal width between the smallest and the largest value."""

    def codes(self, view: View) -> Codes:
        values = np.asarray(view[self.attribute.name], dtype=np.float64)
        unknown = np.isnan(values)
        if unknown.all():
            return np.full(len(values), self.bins)
        low, high = values[~unknown].min(), values[~unknown].max()
        place = (np.where(unknown, low, values) - low) * (self.bins / max(high - low, 1e-12))
        return np.where(unknown, self.bins, np.minimum(place, self.bins - 1)).astype(np.intp)


@attrs.frozen(eq=False)
class DataBinsModel(TableModel):
    """Tables over such bins."""

    @staticmethod
    def cells(attribute: Attribute) -> Partition:
        return Values(attribute) if isinstance(attribute, Nominal) else DataBins(attribute, 8)


@attrs.frozen
class BoundsFromData(Tables):
    """Naive Bayes from noisy tables over bins that the rows decide."""

    model_class: ClassVar[type[TableModel]] = DataBinsModel
