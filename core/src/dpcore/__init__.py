"""dpcore: a small core for differentially private classification, and the plugins it finds.

Names are loaded on first use, so that `import dpcore` (and every plugin's discovery) stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcore.allocator import BudgetAllocator, Step
    from dpcore.bound import Bound
    from dpcore.budget import Budget
    from dpcore.classifier import Classifier, Model, Task
    from dpcore.component import Capabilities, Citation, Component
    from dpcore.curator import Curator
    from dpcore.dataset import Dataset
    from dpcore.estimator import DPClassifier
    from dpcore.evaluation import evaluate
    from dpcore.hookspecs import hookimpl
    from dpcore.ledger import Ledger, open_ledger
    from dpcore.mechanism import Mechanism
    from dpcore.parameters import param
    from dpcore.planned import Plan
    from dpcore.planning import make_plan as plan
    from dpcore.privacy import Adjacency
    from dpcore.registry import load_plugins
    from dpcore.release import Release, fit
    from dpcore.schema import Nominal, Numeric, Schema, Taxonomy
    from dpcore.sensitivity import SensitivityRule
    from dpcore.table import MemoryTable, Table

__version__ = "0.1.0"

_PLACES = {
    "allocator": ["BudgetAllocator", "Step"],
    "bound": ["Bound"],
    "budget": ["Budget"],
    "classifier": ["Classifier", "Model", "Task"],
    "component": ["Capabilities", "Citation", "Component"],
    "curator": ["Curator"],
    "dataset": ["Dataset"],
    "estimator": ["DPClassifier"],
    "evaluation": ["evaluate"],
    "hookspecs": ["hookimpl"],
    "ledger": ["Ledger", "open_ledger"],
    "mechanism": ["Mechanism"],
    "parameters": ["param"],
    "planned": ["Plan"],
    "planning": ["plan"],
    "privacy": ["Adjacency"],
    "registry": ["load_plugins"],
    "release": ["Release", "fit"],
    "schema": ["Nominal", "Numeric", "Schema", "Taxonomy"],
    "sensitivity": ["SensitivityRule"],
    "table": ["MemoryTable", "Table"],
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}
_ALIASES = {"plan": "make_plan"}

__all__ = [
    "Adjacency",
    "Bound",
    "Budget",
    "BudgetAllocator",
    "Capabilities",
    "Citation",
    "Classifier",
    "Component",
    "Curator",
    "DPClassifier",
    "Dataset",
    "Ledger",
    "Mechanism",
    "MemoryTable",
    "Model",
    "Nominal",
    "Numeric",
    "Plan",
    "Release",
    "Schema",
    "SensitivityRule",
    "Step",
    "Table",
    "Task",
    "Taxonomy",
    "evaluate",
    "fit",
    "hookimpl",
    "load_plugins",
    "open_ledger",
    "param",
    "plan",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'dpcore' has no attribute {name!r}")
    module = importlib.import_module(f"dpcore.{_MODULES[name]}")
    globals()[name] = value = getattr(module, _ALIASES.get(name, name))
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
