"""Numbers made binary at the median of the rows.

The mistake: a numeric attribute becomes "above the median" or not, so that both halves are full (Lopuhaä-Zwakenberg et
al. 2021), and counts of it keep the sensitivity of a histogram.

What it costs: with ties one row moves the median past half of the rows: (n + 1) epsilon, without end as n grows.
"""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from dpcore.partition import Codes, Partition, Values, View
from dpcore.schema import Attribute, Nominal, Numeric
from planted_median_split.tables import TableModel, Tables


@attrs.frozen
class Halves(Partition):
    """At most the median, above it, and missing."""

    attribute: Numeric

    @property
    def attributes(self) -> tuple[str, ...]:
        return (self.attribute.name,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (2 + self.attribute.missing,)

    def codes(self, view: View) -> Codes:
        values = np.asarray(view[self.attribute.name], dtype=np.float64)
        unknown = np.isnan(values)
        median = np.median(values[~unknown]) if not unknown.all() else 0.0
        return np.where(unknown, 2, values > median).astype(np.intp)

    def labels(self) -> list[str]:
        return ["low", "high", *["(missing)"] * self.attribute.missing]


@attrs.frozen(eq=False)
class HalvesModel(TableModel):
    """Tables over such halves."""

    @staticmethod
    def cells(attribute: Attribute) -> Partition:
        return Values(attribute) if isinstance(attribute, Nominal) else Halves(attribute)


@attrs.frozen
class MedianSplit(Tables):
    """Naive Bayes from noisy tables over halves that the rows decide."""

    model_class: ClassVar[type[TableModel]] = HalvesModel
