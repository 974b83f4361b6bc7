"""A fit from end to end, and the file that it leaves: noisy numbers and public facts, as JSON."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore import strict_json
from dpcore.budget import Budget
from dpcore.classifier import Model
from dpcore.curator import Curator, Released
from dpcore.errors import DpcoreError, InputError, NotPrivateError
from dpcore.ledger import Ledger, Receipt, open_ledger
from dpcore.noise import noise_source
from dpcore.planned import Plan
from dpcore.recording import learner_parameters, ledger_entry, pay
from dpcore.schema import Schema
from dpcore.table import Rows, Table
from dpcore.writing import check_writable, write_whole

if TYPE_CHECKING:
    from dpcore.registry import Registry

FORMAT = "dpcore-model/1"


@attrs.frozen(eq=False)
class Release:
    """What a fit gives out: the model, and what it cost.

    Args:
        classifier: the learner's name.
        schema: the public schema.
        privacy: `epsilon, delta, adjacency, spent, steps, reproducible, guarantee, warning`.
        parameters: the learner's parameters.
        model: the model.
        releases: every noisy answer that the model was made of; not part of the file.
        ledger: where the fit was recorded; told the file's hash before the file exists.
        receipts: the entries there; more than one where the schema was bought, too.
    """

    classifier: str
    schema: Schema
    privacy: Mapping[str, Any]
    parameters: Mapping[str, Any]
    model: Model
    releases: tuple[Released, ...] = ()
    ledger: Ledger | None = None
    receipts: tuple[Receipt, ...] = ()

    def log_proba(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Log-probabilities of the classes, shape (rows, classes)."""
        return self.model.log_proba(rows)

    def predict(self, rows: Rows) -> npt.NDArray[np.intp]:
        """The most probable class of each row, as its index in `schema.classes`."""
        return np.asarray(np.argmax(self.model.log_proba(rows), axis=1))

    def to_json(self) -> dict[str, Any]:
        """The model file's content."""
        return {
            "format": FORMAT,
            "classifier": self.classifier,
            "schema": self.schema.to_json(),
            "privacy": dict(self.privacy),
            "parameters": dict(self.parameters),
            "model": self.model.to_json(),
        }

    def save(self, path: str | Path) -> None:
        """Write the model file, whole or not at all; where there is a ledger, it holds the file's SHA-256 first.

        Raises:
            InputError: if it cannot be written, or the ledger cannot record it.
        """
        path = Path(path)
        check_place(path, self.ledger)
        text = json.dumps(self.to_json(), allow_nan=False, indent=1) + "\n"
        if self.ledger is not None:
            digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
            for receipt in self.receipts:
                self.ledger.seal(receipt, digest)
        write_whole(path, text)

    @classmethod
    def load(cls, path: str | Path, registry: Registry | None = None) -> Release:
        """Read a model file.

        Raises:
            InputError: if it is missing, damaged, or of another format version.
            PluginError: if its learner is not installed.
        """
        from dpcore.registry import load_plugins

        data = _read(path)
        learner = (registry or load_plugins()).get("classifier", data["classifier"])
        try:
            schema = Schema.from_json(data["schema"])
            model = learner.model_class.from_json(schema, data["model"])
        except DpcoreError as error:
            raise InputError(f"the model {str(path)!r} is damaged: {error}") from None
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            raise InputError(f"the model {str(path)!r} is damaged: its numbers do not fit its schema.") from None
        return cls(data["classifier"], schema, data["privacy"], data["parameters"], model)


def _read(path: str | Path) -> dict[str, Any]:
    try:
        data = strict_json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the model {str(path)!r}: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"the model {str(path)!r} is not a whole JSON file.") from None
    if not isinstance(data, dict) or not str(data.get("format", "")).startswith("dpcore-model/"):
        raise InputError(f"{str(path)!r} is not a model file of dpcore.")
    if data["format"] != FORMAT:
        raise InputError(f"the model {str(path)!r} has format {data['format'][:40]!r}; this dpcore reads {FORMAT!r}.")
    needed = {"classifier": str, "schema": dict, "privacy": dict, "parameters": dict, "model": dict}
    for key, kind in needed.items():
        if not isinstance(data.get(key), kind):
            raise InputError(f"the model {str(path)!r} is damaged: {key!r} is missing or of the wrong type.")
    return data


def fit(
    plan: Plan,
    table: Table,
    *,
    random_state: Any = None,
    not_private: bool = False,
    budget: Budget | None = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    data: str = "",
) -> Release:
    """Run a plan on rows.

    Args:
        plan: from `make_plan`.
        table: the rows; its schema must be the plan's.
        random_state: None for noise from the operating system; a seed or NumPy generator for
            experiments, which is stamped on the model: whoever knows the seed can take the noise off.
        not_private: allow a published procedure that spends more than it claims.
        budget: a shared budget to reserve the whole cost from before anything is released.
        ledger: a ledger or its place (see `open_ledger`) to record the fit in, at its whole cost, before any noise
            exists; whatever happens afterwards, the cost is not given back.
        data: the name of the data for that record; folders are left out.

    Raises:
        NotPrivateError: if the plan spends more than asked for and `not_private` is not set.
        InputError: if the ledger cannot be used; before anything is spent.
        BudgetError: if the shared budget or the ledger cannot pay.
    """
    check_private(plan, not_private=not_private)
    noise = noise_source(random_state)
    bank = plan.accountant()
    curator = Curator(
        table, plan.task, tuple(plan.steps), bank, noise, allow_local=not_private and not plan.within_budget
    )
    book = None if ledger is None else open_ledger(ledger)
    entries = () if book is None else (ledger_entry(plan, reproducible=noise.reproducible, data=data),)
    receipts = pay(plan.total, budget, book, entries)
    model = plan.classifier.learn(curator)
    privacy = describe_privacy(plan, bank.spent(), reproducible=noise.reproducible)
    if receipts:
        privacy["ledger"] = receipts[0].to_json()
    settings = learner_parameters(plan.classifier)
    answers = tuple(curator.releases)
    return Release(plan.name, plan.task.schema, privacy, settings, model, answers, book, receipts)


def check_private(plan: Plan, *, not_private: bool) -> None:
    """Raise `NotPrivateError` if the plan spends more than asked for and nobody said that this is meant."""
    if plan.within_budget or not_private:
        return
    epsilon = plan.total[0]
    truth = "gives no guarantee at all" if epsilon == float("inf") else f"really spends epsilon = {epsilon:.4g}"
    raise NotPrivateError(
        f"{plan.name} as published {truth} where {plan.task.epsilon:.4g} is asked for "
        f"({plan.task.adjacency}); --not-private (not_private=True) runs it all the same."
    )


def check_place(path: Path, ledger: Ledger | None) -> None:
    """Raise `InputError` now if a model could not be written there later, or would take the place of its ledger."""
    check_writable(path)
    if ledger is not None and ledger.owns(path):
        raise InputError(f"cannot write {str(path)!r}: it is the ledger.")


def describe_privacy(plan: Plan, spent: tuple[float, float], *, reproducible: bool) -> dict[str, Any]:
    """The `privacy` block of a model file."""
    guarantee = plan.guarantee
    finite = None if spent[0] == float("inf") else float(f"{spent[0]:.12g}")
    return {
        "epsilon": plan.task.epsilon,
        "delta": plan.task.delta,
        "adjacency": str(plan.task.adjacency),
        "spent": {"epsilon": finite, "delta": spent[1]},
        "steps": [p.to_json() for p in plan.steps],
        "reproducible": reproducible,
        "guarantee": guarantee.kind,
        "warning": guarantee.note,
    }


def with_schema_cost(release: Release, epsilon: float, spent: float, receipts: tuple[Receipt, ...]) -> Release:
    """The release of a fit whose schema was bought first, from the same budget: its file states the cost of both.

    Args:
        release: of the fit alone.
        epsilon: the whole budget.
        spent: what the schema cost.
        receipts: the schema's entry in the ledger, if there is one.
    """
    fitted = release.privacy["spent"]
    total = None if fitted["epsilon"] is None else float(f"{fitted['epsilon'] + spent:.12g}")
    schema: dict[str, Any] = {"epsilon": spent}
    if receipts:
        schema["ledger"] = receipts[0].to_json()
    privacy = {**release.privacy, "epsilon": epsilon, "spent": {**fitted, "epsilon": total}, "schema": schema}
    return attrs.evolve(release, privacy=privacy, receipts=(*receipts, *release.receipts))
