"""The sets that scikit-learn carries: no file and no network is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from dpcore.component import Citation
from dpcore_datasets.packaged import Packaged

if TYPE_CHECKING:
    import pandas as pd

_UCI = "UCI Machine Learning Repository"


class Bundled(Packaged):
    """A set of `sklearn.datasets`; `loader` is the function's name."""

    loader: ClassVar[str]

    def frame(self) -> pd.DataFrame:
        """The rows; the class as text."""
        import pandas as pd
        import sklearn.datasets

        bunch: Any = getattr(sklearn.datasets, self.loader)()
        frame = pd.DataFrame(bunch.data, columns=self.columns[:-1], dtype=float)
        frame[self.columns[-1]] = pd.Series([str(bunch.target_names[t]) for t in bunch.target], dtype=object)
        return frame


class Iris(Bundled):
    name = "iris"
    loader = "load_iris"
    citation = Citation("iris", "Fisher, R. A.", "Iris [Dataset]", 1936, venue=_UCI, doi="10.24432/C56C76", type="misc")


class Wine(Bundled):
    name = "wine"
    loader = "load_wine"
    citation = Citation(
        "wine",
        "Aeberhard, S. and Forina, M.",
        "Wine [Dataset]",
        1992,
        venue=_UCI,
        doi="10.24432/C5PC7J",
        type="misc",
    )


class Digits(Bundled):
    name = "digits"
    loader = "load_digits"
    citation = Citation(
        "optdigits",
        "Alpaydin, E. and Kaynak, C.",
        "Optical Recognition of Handwritten Digits [Dataset]",
        1998,
        venue=_UCI,
        doi="10.24432/C50P49",
        type="misc",
    )


class BreastCancer(Bundled):
    name = "breast_cancer"
    loader = "load_breast_cancer"
    citation = Citation(
        "breast_cancer",
        "Wolberg, W. and Mangasarian, O. and Street, N. and Street, W.",
        "Breast Cancer Wisconsin (Diagnostic) [Dataset]",
        1993,
        venue=_UCI,
        doi="10.24432/C5DW2B",
        type="misc",
    )
