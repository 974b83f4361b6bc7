"""A fit from end to end, and the file that it leaves: noisy numbers and public facts, as JSON."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.budget import Budget
from dpcore.classifier import Classifier, Model
from dpcore.curator import Curator, Released
from dpcore.errors import DpcoreError, InputError, NotPrivateError
from dpcore.noise import noise_source
from dpcore.parameters import parameters
from dpcore.planned import Plan
from dpcore.schema import Schema
from dpcore.table import Rows, Table

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
    """

    classifier: str
    schema: Schema
    privacy: Mapping[str, Any]
    parameters: Mapping[str, Any]
    model: Model
    releases: tuple[Released, ...] = ()

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
        """Write the model file, whole or not at all.

        Raises:
            InputError: if it cannot be written.
        """
        text = json.dumps(self.to_json(), allow_nan=False, indent=1) + "\n"
        write_whole(Path(path), text)

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
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the model {str(path)!r}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InputError(f"the model {str(path)!r} is not a whole JSON file.") from None
    if not isinstance(data, dict) or not str(data.get("format", "")).startswith("dpcore-model/"):
        raise InputError(f"{str(path)!r} is not a model file of dpcore.")
    if data["format"] != FORMAT:
        raise InputError(f"the model {str(path)!r} has format {data['format']!r}; this dpcore reads {FORMAT!r}.")
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
) -> Release:
    """Run a plan on rows.

    Args:
        plan: from `make_plan`.
        table: the rows; its schema must be the plan's.
        random_state: None for noise from the operating system; a seed or NumPy generator for
            experiments, which is stamped on the model: whoever knows the seed can take the noise off.
        not_private: allow a published procedure that spends more than it claims.
        budget: a shared budget to reserve the whole cost from before anything is released.

    Raises:
        NotPrivateError: if the plan spends more than asked for and `not_private` is not set.
        BudgetError: if the shared budget cannot pay.
    """
    check_private(plan, not_private=not_private)
    noise = noise_source(random_state)
    bank = plan.accountant()
    curator = Curator(
        table, plan.task, tuple(plan.steps), bank, noise, allow_local=not_private and not plan.within_budget
    )
    if budget is not None:
        budget.reserve(*plan.total)
    model = plan.classifier.learn(curator)
    privacy = describe_privacy(plan, bank.spent(), reproducible=noise.reproducible)
    settings = learner_parameters(plan.classifier)
    return Release(plan.name, plan.task.schema, privacy, settings, model, tuple(curator.releases))


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


def learner_parameters(classifier: Classifier) -> dict[str, Any]:
    """The parameters of a learner, by name."""
    return {p.name: getattr(classifier, p.name) for p in parameters(type(classifier))}


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is never seen half-written: temporary name, fsync, rename.

    Raises:
        InputError: if the folder is missing or cannot be written to.
    """
    check_writable(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}.") from None
    try:
        # a temporary file is for its owner alone; what is released may be read as the umask says
        os.chmod(handle, 0o666 & ~_umask())
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write {str(path)!r}: {error.strerror}.") from None
        raise


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    current = os.umask(0o077)
    os.umask(current)
    return current


def check_writable(path: Path) -> None:
    """Raise `InputError` now if a file could not be written there later."""
    if path.is_dir():
        raise InputError(f"cannot write {str(path)!r}: it is a folder.")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}.")
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"cannot write {str(path)!r}: permission denied.")
