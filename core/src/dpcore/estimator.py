"""`DPClassifier`: any dpcore learner as a scikit-learn classifier."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from dpcore.accounting import PureAccountant
from dpcore.allocator import BudgetAllocator
from dpcore.budget import Budget
from dpcore.encode import encode, encode_arrays
from dpcore.errors import InputError
from dpcore.ledger import Ledger, open_ledger
from dpcore.noise import noise_source
from dpcore.planned import Plan
from dpcore.planning import make_plan
from dpcore.privacy import Adjacency, check_budget
from dpcore.private_schema import SHARE, draft, find_schema
from dpcore.recording import ledger_entry, pay, schema_entry
from dpcore.registry import load_plugins
from dpcore.release import Release, check_private, fit, with_schema_cost
from dpcore.schema import Schema
from dpcore.source import find_schema as public_schema
from dpcore.table import MemoryTable, Rows
from dpcore.untold import untold

if TYPE_CHECKING:
    import pandas as pd

_NO_SCHEMA = (
    "DPClassifier needs a schema: public bounds and categories, which it will not read from the rows. Pass a Schema "
    "or a file (`dpcore schema draft` writes a draft to be reviewed), or schema='private' to spend a fifth of epsilon "
    "on finding bounds and classes."
)


class DPClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A differentially private classifier with scikit-learn's interface.

    Args:
        classifier: the learner's name, as in `dpcore list-plugins`.
        epsilon: the whole budget of one fit, finite and > 0.
        delta: in [0, 1).
        schema: a `Schema`, the path of one, the name of a data set, or "private" (see `dpcore.private_schema`). It
            is not read from the rows: with None, `fit` raises and says so.
        adjacency: `add-remove` or `replace-one`.
        parameters: the learner's parameters, as in `dpcore describe`.
        allocator: how the budget is split among the learner's steps.
        mechanism, sensitivity: take the place of the learner's own choice where they fit.
        accounting: `auto`, `pure`, `zcdp` or `gdp`.
        budget: a shared `Budget`; every fit reserves its whole cost from it first.
        ledger: the path of a ledger (`dpcore ledger init`), or a `Ledger`; every fit, of a clone as well, is recorded
            there at its whole cost first.
        random_state: None draws noise from the operating system. A seed is for experiments: whoever knows it can
            take the noise off.
        not_private: allow a published procedure that spends more than it claims.

    Attributes:
        classes_: the schema's classes, in the type of `y`.
        schema_, plan_, release_: what the fit went by, and gave out; `release_.save(path)` writes the model.
        privacy_: what was spent, under which adjacency, step by step.
        n_features_in_, feature_names_in_: as in scikit-learn.
    """

    def __init__(
        self,
        classifier: str = "naive_bayes",
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        schema: Schema | str | None = None,
        adjacency: str = "add-remove",
        parameters: Mapping[str, Any] | None = None,
        allocator: str | BudgetAllocator = "weights",
        mechanism: str | None = None,
        sensitivity: str | None = None,
        accounting: str = "auto",
        budget: Budget | None = None,
        ledger: str | os.PathLike[str] | Ledger | None = None,
        random_state: Any = None,
        not_private: bool = False,
    ) -> None:
        self.classifier = classifier
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.adjacency = adjacency
        self.parameters = parameters
        self.allocator = allocator
        self.mechanism = mechanism
        self.sensitivity = sensitivity
        self.accounting = accounting
        self.budget = budget
        self.ledger = ledger
        self.random_state = random_state
        self.not_private = not_private

    @untold
    def fit(self, X: Any, y: Any) -> DPClassifier:
        """Release a model of the rows.

        Args:
            X: a frame with the schema's columns, or an array in their order; shape (rows, attributes).
            y: class labels, shape (rows,).

        Raises:
            InputError (a ValueError): for a wrong argument, or rows that do not fit the schema.
            BudgetError: if the shared budget or the ledger cannot pay; before anything is released.
            NotPrivateError: for a published procedure that overspends, without `not_private`.
        """
        data, labels = self._check(X, y, reset=True)
        if self.schema is None:
            raise InputError(_NO_SCHEMA)
        if isinstance(self.schema, str) and self.schema == "private":
            return self._fit_private_schema(data, labels)
        schema = self.schema if isinstance(self.schema, Schema) else public_schema(None, self.schema, load_plugins())
        plan = self._plan(schema, float(self.epsilon))
        ledger = None if self.ledger is None else open_ledger(self.ledger)
        if ledger is not None:
            ledger.check(ledger_entry(plan, reproducible=self.random_state is not None))
        rows = self._encode(data, labels, schema, strict=True)
        return self._keep(plan, labels, self._run(plan, rows, self.random_state, ledger))

    def _fit_private_schema(self, data: Any, labels: npt.NDArray[Any]) -> DPClassifier:
        """Find a schema with a share of epsilon, then fit with the rest; the two add up to the whole."""
        epsilon, _ = check_budget(self.epsilon, self.delta)
        registry, adjacency = load_plugins(), Adjacency.parse(self.adjacency)
        _check_classes(labels)
        drafted = self._plan(draft(data), (1 - SHARE) * epsilon)  # a wrong argument shows before anything is spent
        noise = noise_source(self.random_state)
        ledger = None if self.ledger is None else open_ledger(self.ledger, registry)
        entry = schema_entry(SHARE * epsilon, adjacency, reproducible=noise.reproducible)
        if ledger is not None:
            ledger.check(entry, ledger_entry(drafted, reproducible=noise.reproducible))
        receipts = pay((SHARE * epsilon, 0.0), self.budget, ledger, (entry,))
        bank = PureAccountant(SHARE * epsilon)
        schema = find_schema(
            data, labels, bank=bank, epsilon=epsilon, adjacency=adjacency, noise=noise, registry=registry
        )
        plan = self._plan(schema, (1 - SHARE) * epsilon)
        known = np.isin(_as_text(labels), schema.classes)
        # a row whose class was not found has no place in the model; leaving it out touches that row only
        rows = self._encode(data, labels, schema, strict=False, keep=known)
        seed = None if self.random_state is None else int(noise.integers(2**32, 1)[0])
        release = with_schema_cost(self._run(plan, rows, seed, ledger), epsilon, bank.spent()[0], receipts)
        return self._keep(plan, labels, release)

    @untold
    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Log-probabilities of `classes_`, shape (rows, classes)."""
        check_is_fitted(self, "release_")
        data, _ = self._check(X, reset=False)
        return self.release_.log_proba(self._encode(data, None, self.schema_, strict=False))

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probabilities of `classes_`, shape (rows, classes)."""
        return np.asarray(np.exp(self.predict_log_proba(X)), dtype=np.float64)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row, shape (rows,)."""
        log = self.predict_log_proba(X)
        return np.asarray(self.classes_[np.argmax(log, axis=1)])

    # -- the parts -----------------------------------------------------------------------------------------------

    def _plan(self, schema: Schema, epsilon: float) -> Plan:
        plan = make_plan(
            self.classifier,
            schema,
            epsilon=epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            allocator=self.allocator,
            mechanism=self.mechanism,
            sensitivity=self.sensitivity,
            accounting=self.accounting,
            parameters=self.parameters,
        )
        check_private(plan, not_private=self.not_private)
        return plan

    def _run(self, plan: Plan, rows: Rows, seed: Any, ledger: Ledger | None) -> Release:
        return fit(
            plan,
            MemoryTable(rows),
            random_state=seed,
            not_private=self.not_private,
            budget=self.budget,
            ledger=ledger,
        )

    def _keep(self, plan: Plan, labels: npt.NDArray[Any], release: Release) -> DPClassifier:
        self.plan_, self.schema_, self.release_ = plan, plan.task.schema, release
        self.privacy_ = dict(release.privacy)
        self.classes_ = _in_type_of(labels, self.schema_.classes)
        return self

    def _check(self, X: Any, y: Any = None, *, reset: bool) -> tuple[Any, npt.NDArray[Any]]:
        """What scikit-learn asks of inputs. A frame stays a frame, an array of numbers is not copied."""
        frame = _as_frame(X)
        if frame is not None and not _all_numeric(frame):
            validate_data(self, X=frame, **({"y": y} if reset else {}), reset=reset, skip_check_array=True)
            if reset and not len(frame):
                raise InputError("Found array with 0 sample(s) while a minimum of 1 is required.")
            return frame, self._labels(y, len(frame)) if reset else np.empty(0)
        finite = True if self._no_missing(reset) else "allow-nan"
        keywords = {"dtype": "numeric", "ensure_all_finite": finite, "reset": reset}
        if not reset:
            checked = validate_data(self, X, **keywords)
            return checked if frame is None else frame, np.empty(0)
        checked, labels = validate_data(self, X, y, **keywords)
        return checked if frame is None else frame, self._labels(labels, len(checked))

    def _no_missing(self, reset: bool) -> bool:
        schema = self.schema if reset else self.schema_
        return not isinstance(schema, Schema) or not any(a.missing for a in schema.numeric())

    def _labels(self, y: Any, size: int) -> npt.NDArray[Any]:
        labels: npt.NDArray[Any] = np.asarray(column_or_1d(y, warn=True))
        if len(labels) != size:
            raise InputError(f"X has {size} rows and y has {len(labels)}.")
        check_classification_targets(labels)
        return labels

    def _encode(
        self, data: Any, labels: npt.NDArray[Any] | None, schema: Schema, *, strict: bool, keep: Any = None
    ) -> Rows:
        if isinstance(data, np.ndarray) and not schema.nominal():
            if data.shape[1] != len(schema.attributes):
                raise InputError(f"X has {data.shape[1]} columns, the schema has {len(schema.attributes)} attributes.")
            if keep is not None and labels is not None and not keep.all():
                data, labels = data[keep], labels[keep]
            rows = encode_arrays(data, labels, schema)
        else:
            frame = _named(data, schema)
            if labels is not None:
                frame = frame.assign(**{schema.target.name: labels})
            if keep is not None and not keep.all():
                frame = frame[keep]
            rows = encode(frame, schema, strict=strict, target=labels is not None)
        if labels is not None and strict:
            _check_classes(rows.columns[schema.target.name])
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        tags.input_tags.allow_nan = not self._no_missing(reset=True)
        return tags


def _check_classes(labels: npt.NDArray[Any]) -> None:
    if len(labels) and (labels == labels[0]).all():
        raise InputError("all rows have one class: y must hold at least two.")


def _as_frame(X: Any) -> pd.DataFrame | None:
    """X as a pandas frame if it is some kind of frame."""
    if not hasattr(X, "iloc") and not (hasattr(X, "columns") and hasattr(X, "__dataframe__")):
        return None
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    found: pd.DataFrame = X.to_pandas() if hasattr(X, "to_pandas") else pd.api.interchange.from_dataframe(X)
    return found


def _all_numeric(frame: pd.DataFrame) -> bool:
    return all(getattr(dtype, "kind", "O") in "iuf" for dtype in frame.dtypes)


def _named(data: Any, schema: Schema) -> pd.DataFrame:
    """The columns under the schema's names."""
    import pandas as pd

    if isinstance(data, np.ndarray):
        if data.shape[1] != len(schema.attributes):
            raise InputError(f"X has {data.shape[1]} columns, the schema has {len(schema.attributes)} attributes.")
        return pd.DataFrame(data, columns=list(schema.names))
    frame: pd.DataFrame = data.rename(columns=str)
    extra = [c for c in frame.columns if c not in schema.names and c not in schema.ignored]
    if extra:
        raise InputError(f"X has columns that the schema lacks: {', '.join(map(repr, extra))}.")
    return frame


def _as_text(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if labels.dtype.kind == "f":
        labels = labels.astype(np.int64)
    return labels.astype(str)


def _in_type_of(labels: npt.NDArray[Any], classes: tuple[str, ...]) -> npt.NDArray[Any]:
    """The classes in the type of y, where all of them have that form."""
    if labels.dtype.kind == "b" and set(classes) <= {"False", "True"}:
        return np.array([c == "True" for c in classes])
    if labels.dtype.kind in "iuf":
        try:
            return np.array([float(c) for c in classes]).astype(labels.dtype)
        except ValueError:
            pass
    return np.asarray(classes, dtype=object if labels.dtype.kind == "O" else None)
