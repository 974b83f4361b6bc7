"""A named data set: a public schema that ships with a package, and a way to get the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from dpcore.component import Citation
from dpcore.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


class Dataset(ABC):
    """What the hook `dpcore_datasets` names.

    A plugin's factory may be the class or a ready instance. `schema` reads no rows.
    """

    name: str
    summary: str
    citation: ClassVar[Citation | None] = None

    @abstractmethod
    def schema(self) -> Schema:
        """The public schema; no network, no rows."""

    @abstractmethod
    def frame(self) -> pd.DataFrame:
        """The rows, columns named as in the schema, raw values as in the source.

        Raises:
            InputError: if the rows cannot be had; the message says how to get them.
        """
