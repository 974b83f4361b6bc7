"""Checks of a model: it survives its file, predicts whatever it is shown, and holds nothing of the rows."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import attrs
import numpy as np

from dpcore.classifier import Model
from dpcore.schema import Nominal, Schema
from dpcore.table import Rows, smallest_unsigned
from dpcore_testing.checks.base import Failed, Subject, check, doing, plural
from dpcore_testing.checks.classifiers.fitting import same, text
from dpcore_testing.checks.classifiers.releases import fitted
from dpcore_testing.lockstep import rows_kept


@check("classifier")
def survives_its_file(subject: Subject) -> str:
    """The model is plain JSON, and comes back from it with the same predictions."""
    models = 0
    for case, _, table, seen in fitted(subject, "survives_its_file"):
        model, cls = seen.learnt(), subject.factory.model_class
        if not isinstance(model, cls):
            raise Failed(f"{case.words}: `learn` gives a {type(model).__name__}, `model_class` is {cls.__name__}.")
        written = text(model)
        with doing(f"read back from JSON, {case.words}"):
            back = cls.from_json(Schema.from_json(case.schema.to_json()), json.loads(written))
            equal = same(model.log_proba(table), back.log_proba(table))
        if not equal:
            raise Failed(f"{case.words}: read back from JSON, it predicts otherwise.")
        if text(back) != written:
            raise Failed(f"{case.words}: read back from JSON, it writes another file.")
        models += 1
    return plural(models, "model")


def strange_rows(schema: Schema) -> Rows:
    """Rows to predict: unknown categories, missing and enormous numbers, ends of the domain; no class column."""
    size = 12
    columns: dict[str, Any] = {}
    for a in schema.attributes:
        if isinstance(a, Nominal):
            # `cells` is the code of a value that the schema does not list
            codes = [a.cells if i % 4 == 0 else i % a.cells for i in range(size)]
            columns[a.name] = np.array(codes, dtype=smallest_unsigned(a.cells))
        else:
            some = [a.lower, a.upper, a.middle, np.nan, a.lower - 1e6 * a.width, a.upper + 1e6 * a.width, 1e99, -1e99]
            columns[a.name] = np.array([some[i % len(some)] for i in range(size)])
    return Rows(schema, columns, size)


@check("classifier")
def predicts_whatever_it_is_shown(subject: Subject) -> str:
    """Unknown categories, missing numbers and values beyond the bounds get log-probabilities that sum to one."""
    predicted = 0
    for case, _, table, seen in fitted(subject, "predicts_whatever_it_is_shown"):
        model = seen.learnt()
        strange = strange_rows(case.schema)
        empty = strange.take(np.arange(0))
        for words, some in (("strange rows", strange), ("its own rows", table), ("no rows", empty)):
            before = {name: column.copy() for name, column in some.columns.items()}
            with doing(f"predicting {words}, {case.words}"):
                log = model.log_proba(some)
            _check_log(f"{case.words}, {words}", log, (some.size, len(case.schema.classes)))
            if any(not same(before[name], some.columns[name]) for name in before):
                raise Failed(f"{case.words}: predicting changes the rows that it is shown.")
            predicted += some.size
        _check_alone(case.words, model, strange)
    return f"{plural(predicted, 'row')} predicted"


def _check_log(where: str, log: Any, shape: tuple[int, int]) -> None:
    if not isinstance(log, np.ndarray) or log.shape != shape:
        raise Failed(f"{where}: log_proba has shape {getattr(log, 'shape', None)}; it must be {shape}.")
    if np.isnan(log).any() or (log > 1e-9).any():
        raise Failed(f"{where}: log_proba holds NaN or positive numbers.")
    wrong = np.abs(np.exp(log).sum(axis=1) - 1) > 1e-6
    if wrong.any():
        raise Failed(f"{where}: the probabilities of {plural(int(wrong.sum()), 'row')} do not sum to 1.")


def _check_alone(where: str, model: Model, some: Rows) -> None:
    """A row's prediction must not depend on the rows beside it."""
    together = model.log_proba(some)
    for i in range(some.size):
        alone = model.log_proba(some.take(np.array([i])))
        if not np.allclose(np.exp(alone[0]), np.exp(together[i]), rtol=0, atol=1e-9):
            raise Failed(f"{where}: a row alone is predicted otherwise than among others.")


@check("classifier")
def ignores_the_class_column(subject: Subject) -> str:
    """What it predicts does not depend on the class column of the rows, or on its presence."""
    models = 0
    for case, _, table, seen in fitted(subject, "ignores_the_class_column"):
        model, target = seen.learnt(), case.schema.target.name
        label = table.columns[target]
        without = {name: column for name, column in table.columns.items() if name != target}
        turned = {**without, target: ((label + 1) % len(case.schema.classes)).astype(label.dtype)}
        expected = model.log_proba(table)
        for words, columns in (("without the class column", without), ("with other labels", turned)):
            with doing(f"predicting rows {words}, {case.words}"):
                found = model.log_proba(attrs.evolve(table, columns=columns))
            if not same(expected, found):
                raise Failed(f"{case.words}: rows {words} are predicted otherwise.")
        models += 1
    return plural(models, "model")


@check("classifier")
def keeps_no_rows(subject: Subject) -> str:
    """No table, no array of the rows and no value of a row can be reached from the model."""
    models = 0
    for case, _, table, seen in fitted(subject, "keeps_no_rows"):
        model = seen.learnt()
        if kept := rows_kept(model, table):
            raise Failed(f"{case.words}: the model keeps {kept}.")
        numeric = [table.columns[a.name] for a in case.schema.numeric() if not a.integer]
        private = {float(value) for column in numeric for value in column if np.isfinite(value)}
        found = private.intersection(numbers_in(model))
        # the rows' numbers have 53 random bits each: none stands in a model by chance
        if found:
            raise Failed(f"{case.words}: the model holds {plural(len(found), 'number')} of the rows, as they stand.")
        models += 1
    return plural(models, "model")


def numbers_in(thing: Any) -> Iterator[float]:
    """Every float that can be reached from an object, those in arrays included."""
    seen: set[int] = set()
    left: list[Any] = [thing]
    while left:
        found = left.pop()
        if id(found) in seen or isinstance(found, (type, ModuleType, Schema)):
            continue
        seen.add(id(found))
        if isinstance(found, float):
            yield found
        elif isinstance(found, FunctionType):
            left += [found.__closure__, found.__defaults__, found.__kwdefaults__]
        elif isinstance(found, np.ndarray):
            if found.dtype.kind == "f":
                yield from found.ravel().tolist()
            left += found.ravel().tolist() if found.dtype.kind == "O" else []
        else:
            left += gc.get_referents(found)
