"""Estimators from elsewhere, in scikit-learn's style: what they are given, and what they claim.

They see the rows themselves, so nothing is enforced: their guarantee is what they say. All that they are told beside
the rows comes from the public schema: every column lies in [0, 1] by the schema's bounds and lists of values.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.errors import InputError, ParameterError
from dpcore.isolation import foreign_code
from dpcore.schema import Attribute, Nominal, Schema
from dpcore.table import Rows

Floats = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class Estimator:
    """A class from elsewhere and the parameters to make it with.

    Args:
        make: the class.
        given: the experiment's parameters.
        encoding: `onehot` or `ordinal`.
    """

    make: Callable[..., Any]
    given: Mapping[str, Any]
    encoding: str = "onehot"

    @classmethod
    def find(cls, spec: str, given: Mapping[str, Any], encoding: str = "onehot") -> Estimator:
        """The class that `module:Class` names.

        Raises:
            InputError: if there is none.
            ParameterError: if it does not take these parameters, or gets `epsilon` or `random_state` from them.
        """
        module, sign, name = spec.partition(":")
        if not sign or not module or not name:
            raise InputError(f"an estimator is named module:Class. Got {spec!r}.")
        try:
            with foreign_code(f"the estimator {spec!r} cannot be imported"):
                make = getattr(importlib.import_module(module), name, None)
        except LookupError as error:
            raise InputError(str(error)) from None
        if not callable(make) or not hasattr(make, "fit"):
            raise InputError(f"the module {module!r} has no class {name!r} with a method fit.")
        found = cls(make, given, encoding)
        for key in given:
            if key in ("epsilon", "delta", "random_state"):
                raise ParameterError(f"{name} gets {key} from the experiment: leave it out of its parameters.")
            if not found.takes(key):
                known = ", ".join(k for k in inspect.signature(make).parameters if k != "self") or "none"
                raise ParameterError(f"{name} has no parameter {key!r}; it has: {known}.")
        return found

    def takes(self, name: str) -> bool:
        """Whether it has a parameter of this name."""
        known = inspect.signature(self.make).parameters
        return name in known or any(p.kind == p.VAR_KEYWORD for p in known.values())

    @property
    def claims(self) -> bool:
        """Whether it says that it is private: it takes an epsilon."""
        return "epsilon" in inspect.signature(self.make).parameters

    def build(self, epsilon: float, delta: float, seed: int, schema: Schema) -> Any:
        """An estimator with this budget, told what the schema says."""
        width = len(columns(schema, self.encoding))
        own: dict[str, Any] = {
            "epsilon": epsilon,
            "delta": delta,
            "random_state": seed % 2**32,
            "bounds": (np.zeros(width), np.ones(width)),
            "data_norm": float(np.sqrt(width)),
        }
        known = inspect.signature(self.make).parameters
        told = {key: value for key, value in own.items() if key in known and (key != "delta" or delta > 0)}
        return self.make(**{**told, **{key: _tuples(value) for key, value in self.given.items()}})


def _tuples(value: Any) -> Any:
    """Lists as tuples, which estimators want of bounds and sizes; TOML has lists only."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def columns(schema: Schema, encoding: str) -> list[str]:
    """The names of the columns that `matrix` makes, from the schema alone."""
    names: list[str] = []
    for a in schema.attributes:
        if isinstance(a, Nominal) and encoding == "onehot":
            names += [f"{a.name}={value}" for value in [*a.values, *["(missing)"] * a.missing]]
        else:
            names += [a.name, *[f"{a.name}=(missing)"] * (a.missing and not isinstance(a, Nominal))]
    return names


def matrix(rows: Rows, encoding: str) -> Floats:
    """The rows as numbers in [0, 1].

    Numeric values are clipped to their bounds and scaled; a missing one becomes the middle, and is told by a column of
    its own. A nominal value is a column of its own (`onehot`) or its place in the list, scaled (`ordinal`).
    """
    parts = [part for a in rows.schema.attributes for part in _columns(rows.columns[a.name], a, encoding)]
    return np.column_stack(parts) if parts else np.zeros((rows.size, 0))


def _columns(values: npt.NDArray[Any], attribute: Attribute, encoding: str) -> list[Floats]:
    if isinstance(attribute, Nominal):
        if encoding == "onehot":
            return [(values == code).astype(np.float64) for code in range(attribute.cells)]
        return [values / max(1, attribute.cells - 1)]
    scaled = (np.asarray(values, dtype=np.float64) - attribute.lower) / (attribute.width or 1.0)
    unknown = np.isnan(scaled)
    known = np.where(unknown, 0.5, np.clip(scaled, 0.0, 1.0))
    return [known, unknown.astype(np.float64)] if attribute.missing else [known]


def log_proba(fitted: Any, seen: Floats, classes: int) -> tuple[npt.NDArray[np.intp], Floats | None]:
    """What a fitted estimator says of rows: classes, and log-probabilities of all classes where it has them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        predicted = np.asarray(fitted.predict(seen)).astype(np.intp)
        if not hasattr(fitted, "predict_proba"):
            return predicted, None
        told = np.asarray(fitted.predict_proba(seen), dtype=np.float64)
        full = np.full((len(seen), classes), -np.inf)
        full[:, np.asarray(fitted.classes_).astype(np.intp)] = np.log(told)
    return predicted, np.nan_to_num(full, nan=-np.inf, neginf=-1e3)
