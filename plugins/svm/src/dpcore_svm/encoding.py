"""How rows become vectors: which entries each attribute has, decided by public facts and noisy numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from dpcore.errors import InputError
from dpcore.features import FeatureMap, Fourier, Lookup, OneHot, Part, Scaled
from dpcore.partition import CutBins, EqualBins, Values
from dpcore.schema import Attribute, Nominal, Numeric, Schema

ENCODINGS = ("bins", "scaled", "ordinal", "codes")
"""The parameter's choices; the last one is that of a published procedure only."""
Cells = Values | EqualBins | CutBins
_WAVES = 2**16


def telling(schema: Schema) -> list[Attribute]:
    """The attributes that can tell classes apart: a nominal one with a single cell cannot."""
    return [a for a in schema.attributes if isinstance(a, Numeric) or a.cells > 1]


def cells(attribute: Attribute, bins: int) -> Cells:
    """The cells of one attribute: its values, the bins between the schema's cut points where it has some, or equal
    bins (one a whole number, where that is fewer)."""
    if isinstance(attribute, Nominal):
        return Values(attribute)
    if attribute.cuts:
        return CutBins(attribute, attribute.cuts)
    if attribute.integer and attribute.width + 1 <= bins:
        return EqualBins(attribute, int(attribute.width) + 1)
    return EqualBins(attribute, bins)


def part(attribute: Attribute, encoding: str, bins: int) -> Part:
    """What one attribute adds to a vector.

    Args:
        encoding: `bins`: a 1 in the place of the cell; `scaled`: that for nominal attributes, numeric values on
            [−1, 1]; `ordinal`: one number an attribute, values of nominal ones spread over [−1, 1] in their order;
            `codes`: the same with 0, 1, 2, … for nominal ones.
        bins: equal bins of a numeric attribute.
    """
    if encoding == "bins" or (encoding == "scaled" and isinstance(attribute, Nominal)):
        return OneHot(cells(attribute, bins))
    if isinstance(attribute, Numeric):
        return Scaled(attribute)
    many = len(attribute.values)
    places = np.arange(many) if encoding == "codes" else np.linspace(-1.0, 1.0, many)
    return Lookup(Values(attribute), (*places.tolist(), *[0.0] * attribute.missing))


@attrs.frozen
class Encoding:
    """A feature map in a few words: what a model's file keeps of it.

    Args:
        name: one of `ENCODINGS`.
        bins: equal bins of a numeric attribute.
        waves: of the random Fourier features; 0 for none.
        gamma: of the kernel that they stand for.
        seed: that they are drawn from.
    """

    name: str
    bins: int
    waves: int = 0
    gamma: float = 1.0
    seed: int = 0

    def features(self, schema: Schema) -> FeatureMap:
        """The map for rows of this schema."""
        parts = [part(a, self.name, self.bins) for a in telling(schema)]
        if self.waves == 0:
            return FeatureMap(parts)
        return Fourier(parts, number=self.waves, gamma=self.gamma, seed=self.seed)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        waves = {"waves": self.waves, "gamma": self.gamma, "seed": self.seed} if self.waves else {}
        return {"encoding": self.name, "bins": self.bins, **waves}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Encoding:
        """Back from `to_json`.

        Raises:
            InputError: if it is none.
        """
        made = cls(data["encoding"], data["bins"], data.get("waves", 0), data.get("gamma", 1.0), data.get("seed", 0))
        whole = all(type(n) is int and 0 <= n <= 2**63 for n in (made.bins, made.waves, made.seed))
        if made.name not in ENCODINGS or not whole or not 1 <= made.bins <= _WAVES or made.waves > _WAVES:
            raise InputError("it has no usable encoding.")
        if not isinstance(made.gamma, (int, float)) or not 0 < made.gamma < 1e100:
            raise InputError("it has no usable kernel.")
        return made
