"""What defines a run. Two runs with the same key are the same run, whoever does it, when, and in which order."""

from __future__ import annotations

import hashlib
from typing import Any

import attrs

from dpcore.ledger import canonical


@attrs.frozen
class Key:
    """One fit and its test.

    Args:
        data_hash: of the encoded rows and their schema.
        rows: asked size of the training set, 0 for all.
        settings: the method, its parameters and overrides, as JSON.
        epsilon, delta, adjacency: what the fit is planned for; epsilon is inf where the method has none.
        folds, fold, repeat, seed: which fold of which split, and which draw of noise.
        exact_epsilon: the epsilon at which the noiseless figure beside it is planned.
        version: of the packages that take part.
    """

    data_hash: str
    rows: int
    settings: str
    epsilon: float
    delta: float
    adjacency: str
    folds: int
    fold: int
    repeat: int
    seed: int
    exact_epsilon: float
    version: str

    @property
    def noise_seed(self) -> int:
        """Where its noise comes from: all of the key but what draws no noise."""
        facts = attrs.asdict(self)
        del facts["version"], facts["exact_epsilon"]
        facts["epsilon"] = repr(self.epsilon)
        return int.from_bytes(hashlib.sha256(canonical(facts).encode()).digest()[:16], "big")

    def to_json(self) -> dict[str, Any]:
        """Plain data: the first columns of a results file."""
        return attrs.asdict(self)


KEY = tuple(field.name for field in attrs.fields(Key))
