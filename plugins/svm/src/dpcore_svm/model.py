"""The released classifier: weights, and how rows become the vectors that they weigh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.classifier import Model
from dpcore.errors import InputError
from dpcore.features import FeatureMap
from dpcore.losses import HuberHinge, Logistic, Loss
from dpcore.schema import Schema
from dpcore.table import Rows
from dpcore_svm.encoding import Encoding

Floats = npt.NDArray[np.float64]
_LARGEST = 1e100
_SMOOTH = 0.1
_LOSSES = ("huber", "logistic", "multinomial")


def make_loss(name: str, h: float) -> Loss:
    """The loss of that name."""
    return HuberHinge(h) if name == "huber" else Logistic()


def log_odds(loss: Loss, margin: Floats) -> Floats:
    """ln of P(y = 1) / P(y = −1) for a margin of the class y = 1.

    A row's expected loss is least at the margin where p l'(m) = (1 − p) l'(−m): p = l'(−m) / (l'(m) + l'(−m)), which is
    the logistic function for the logistic loss. A hinge loss says nothing more beyond its corners, and within some; a
    tenth of the logistic function keeps the order there, and the logarithm finite.
    """
    ahead, behind = -loss.slope(margin), -loss.slope(-margin)
    if isinstance(loss, Logistic):
        return margin
    chance = (1 - _SMOOTH) * behind / (ahead + behind) + _SMOOTH * (0.5 + 0.5 * np.tanh(0.5 * margin))
    # one side of each pair is exact where the other is close to 1
    other = (1 - _SMOOTH) * ahead / (ahead + behind) + _SMOOTH * (0.5 - 0.5 * np.tanh(0.5 * margin))
    return np.asarray(np.log(np.maximum(chance, 1e-300)) - np.log(np.maximum(other, 1e-300)))


@attrs.frozen(eq=False)
class SvmModel(Model):
    """sign(w·x) for two classes; for more, the class with the largest w·x.

    Args:
        schema: what rows look like.
        encoding: how they become vectors.
        loss: what the weights are the minimum of: its margins become probabilities. `multinomial`, where all classes'
            weights were found at once; otherwise each class was told from all others.
        h: of the Huber hinge.
        weights: shape (width, 1), for the second class against the first, or (width, classes).
    """

    schema: Schema
    encoding: Encoding
    loss: str
    h: float
    weights: Floats
    features: FeatureMap = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "features", self.encoding.features(self.schema))

    def log_proba(self, rows: Rows) -> Floats:
        loss = make_loss(self.loss, self.h)
        total = np.empty((rows.size, len(self.schema.classes)))
        for where, view in rows.blocks():
            margins = self.features.margins(view, where.stop - where.start, self.weights)
            block = total[where]
            if margins.shape[1] == 1:
                block[:, 0], block[:, 1] = 0.0, log_odds(loss, margins[:, 0])
            elif self.loss == "multinomial":
                block[:] = margins
            else:
                # against all others: log P(class), made to sum to 1
                block[:] = -np.logaddexp(0.0, -log_odds(loss, margins))
            block -= block.max(axis=1, keepdims=True)
            block -= np.log(np.exp(block).sum(axis=1, keepdims=True))
        return total

    def to_json(self) -> dict[str, Any]:
        loss = {"loss": self.loss, **({"h": self.h} if self.loss == "huber" else {})}
        return {**self.encoding.to_json(), **loss, "weights": self.weights.T.tolist()}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        encoding = Encoding.from_json(data)
        h = float(data.get("h", 1.0))
        if data["loss"] not in _LOSSES or not 0 < h < _LARGEST:
            raise InputError("it has no usable loss.")
        weights = np.ascontiguousarray(np.asarray(data["weights"], dtype=np.float64).T)
        classes = len(schema.classes)
        shape = (encoding.features(schema).width, 1 if classes == 2 else classes)
        if weights.shape != shape or not (np.abs(weights) < _LARGEST).all():
            raise InputError("some weights are missing or not finite.")
        return cls(schema, encoding, data["loss"], h, weights)
