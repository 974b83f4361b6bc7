"""What every set of this package shares: its schema is a JSON file beside the code."""

from __future__ import annotations

import json
from functools import cached_property
from importlib.resources import files
from typing import Any

from dpcore.dataset import Dataset
from dpcore.schema import Schema
from dpcore_datasets.catalogue import CATALOGUE


class Packaged(Dataset):
    """A set whose subclass says only its name."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        name = cls.__dict__.get("name")
        if name is not None:
            cls.summary = CATALOGUE[name][1]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The schema file: attributes and class, and beside them rows, licence, documentation, notes."""
        text = files("dpcore_datasets").joinpath("schemas", f"{self.name}.json").read_text(encoding="utf-8")
        facts: dict[str, Any] = json.loads(text)
        return facts

    def schema(self) -> Schema:
        """The public schema; no network, no rows."""
        return Schema.from_json(self.facts)

    @property
    def columns(self) -> list[str]:
        """All columns in the order of the canonical file, ignored ones included, the class last."""
        return [*(a["name"] for a in self.facts["attributes"]), self.facts["class"]["name"]]
