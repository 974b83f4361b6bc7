"""The kit for plugin authors, from the package dpcore-testing: `audit`, `check`, `parametrize_with_checks`.

This module only finds it, when one of them is first used; the core runs without it.
"""

from __future__ import annotations

import importlib
from typing import Any

_PLACES = {"audit": "audit", "check": "kit", "parametrize_with_checks": "kit"}

__all__ = ["audit", "check", "parametrize_with_checks"]  # noqa: F822 (found on first use)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'dpcore.testing' has no attribute {name!r}")
    try:
        module = importlib.import_module(f"dpcore_testing.{_PLACES[name]}")
    except ModuleNotFoundError as error:
        if error.name not in ("dpcore_testing", f"dpcore_testing.{_PLACES[name]}"):
            raise
        raise ModuleNotFoundError(
            f"dpcore.testing.{name} needs the package dpcore-testing: pip install dpcore-testing", name="dpcore_testing"
        ) from None
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
