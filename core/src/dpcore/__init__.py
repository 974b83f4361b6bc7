"""dpcore: a small core for differentially private classification, and the plugins it finds.

Names are loaded on first use, so that `import dpcore` (and every plugin's discovery) stays light.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_NAMES = {
    "Adjacency": "dpcore.privacy",
    "Bound": "dpcore.bound",
    "Budget": "dpcore.budget",
    "BudgetAllocator": "dpcore.allocator",
    "Capabilities": "dpcore.component",
    "Citation": "dpcore.component",
    "Classifier": "dpcore.classifier",
    "Component": "dpcore.component",
    "Curator": "dpcore.curator",
    "DPClassifier": "dpcore.estimator",
    "Dataset": "dpcore.dataset",
    "Mechanism": "dpcore.mechanism",
    "Model": "dpcore.classifier",
    "Nominal": "dpcore.schema",
    "Numeric": "dpcore.schema",
    "Plan": "dpcore.plan",
    "Release": "dpcore.release",
    "Schema": "dpcore.schema",
    "SensitivityRule": "dpcore.sensitivity",
    "Step": "dpcore.allocator",
    "Table": "dpcore.table",
    "Task": "dpcore.classifier",
    "Taxonomy": "dpcore.schema",
    "evaluate": "dpcore.evaluate",
    "fit": "dpcore.release",
    "hookimpl": "dpcore.hookspecs",
    "load_plugins": "dpcore.registry",
    "make_plan": "dpcore.plan",
    "param": "dpcore.parameters",
}

__all__ = list(_NAMES) + ["__version__"]  # noqa: RUF005 (names are loaded on first use)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'dpcore' has no attribute {name!r}")
    value = getattr(importlib.import_module(_NAMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
