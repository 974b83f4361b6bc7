"""What is audited, and the plans that show it: a learner on several schemas, a mechanism or a rule through probes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from dpcore.classifier import Classifier
from dpcore.errors import CapabilityError, InputError, PluginError
from dpcore.parameters import build
from dpcore.parameters import parameters as parameters_of
from dpcore.planned import Plan
from dpcore.planning import make_plan
from dpcore.privacy import GDP, ZCDP, Adjacency, Pure
from dpcore.query import Query
from dpcore.schema import Schema
from dpcore_testing import pairs as made
from dpcore_testing.probe import Probe, queries

if TYPE_CHECKING:
    from dpcore.registry import Registry

AUDITED = ("classifier", "mechanism", "sensitivity")
"""The kinds of component that an audit can say something about."""
_DELTA = 1e-5
"""For mechanisms that have no pure epsilon, where no delta is asked for."""
_PROBED = ("given", "mixed", "numeric")
"""One query at a time needs no more schemas than these."""
_COSTS = {"pure": Pure, "zcdp": ZCDP, "gdp": GDP}


@attrs.frozen
class Subject:
    """What is audited, and the plans that show it."""

    name: str
    kind: str
    claimed: tuple[Adjacency, ...]
    registry: Registry
    parameters: Mapping[str, Any]
    schemas: Mapping[str, Schema]
    epsilon: float
    delta: float
    learner: Classifier | None = None

    def plans(self, adjacency: Adjacency) -> Iterator[tuple[str, Plan]]:
        """Plans that exercise it, each with what it is in words."""
        for title, schema in self.schemas.items():
            if self.learner is not None:
                try:
                    yield title, self._plan(self.learner, schema, adjacency, self.delta)
                except CapabilityError:
                    continue
            elif title in _PROBED:
                yield from self._probes(schema, adjacency)

    def _plan(self, learner: Classifier, schema: Schema, adjacency: Adjacency, delta: float, **more: Any) -> Plan:
        return make_plan(
            learner, schema, epsilon=self.epsilon, delta=delta, adjacency=adjacency, registry=self.registry, **more
        )

    def _probes(self, schema: Schema, adjacency: Adjacency) -> Iterator[tuple[str, Plan]]:
        for query in queries(schema):
            for probe, accounting in self._ways(query):
                delta = 0.0 if accounting == "pure" else self.delta or _DELTA
                try:
                    plan = self._plan(probe, schema, adjacency, delta, accounting=accounting)
                except (PluginError, InputError):  # the mechanism or the rule has nothing to do with this query
                    continue
                if self.kind == "sensitivity" or isinstance(plan.steps[0].cost, _COSTS[accounting]):
                    yield query.describe(), plan

    def _ways(self, query: Query) -> Iterator[tuple[Probe, str]]:
        """Probes and accountings that show new sides of a mechanism, or a rule by mechanisms that are trusted."""
        if self.kind == "mechanism":
            if query.kind not in ("counts", "sums", "choice"):
                return
            costs = self.registry.get("mechanism", self.name).costs
            for accounting, kind in _COSTS.items():
                # one query shows how a pure mechanism is set for another accounting
                if kind in costs and (kind is Pure or Pure not in costs or query.kind != "sums"):
                    yield Probe(query, (self.name,)), accounting
            return
        if query.kind not in self.registry.get("sensitivity", self.name).kinds:
            return
        smooth = [n for n in self.registry.names("mechanism") if "smooth" in self._forms(n)]
        for noise in ("exponential",) if query.kind == "choice" else ("laplace", *smooth):
            yield Probe(query, (noise,), self.name, self.parameters), "pure"

    def _forms(self, mechanism: str) -> tuple[str, ...]:
        forms: tuple[str, ...] = self.registry.get("mechanism", mechanism).forms
        return forms


def subject_of(
    name: str | Classifier,
    *,
    kind: str | None,
    registry: Registry,
    parameters: Mapping[str, Any],
    schema: Schema | None,
    epsilon: float,
    delta: float,
) -> Subject:
    """What a name, or a ready learner, stands for.

    Raises:
        PluginError: for an unknown name, or a kind that an audit has nothing to say about.
    """
    schemas = made.schemas() if schema is None else {"given": schema}
    if isinstance(name, Classifier):
        claimed = tuple(map(Adjacency, type(name).adjacency))
        title = type(name).__name__
        return Subject(title, "classifier", claimed, registry, {}, schemas, epsilon, delta, name)
    if kind is None:
        kinds = [found for found, _ in registry.find(name) if found in AUDITED]
        if len(kinds) > 1:
            raise PluginError(f"{name!r} is a {' and a '.join(kinds)}; say which with --kind.")
        kind = kinds[0] if kinds else registry.find(name)[0][0]
    if kind not in AUDITED:
        audited = f"{', '.join(AUDITED[:-1])} or {AUDITED[-1]}"
        raise PluginError(f"an audit is for a {audited}; {name!r} is of the kind {kind}.")
    found = registry.get(kind, name)
    learner = build(found, parameters) if kind == "classifier" else None
    claimed = tuple(map(Adjacency, found.adjacency))
    return Subject(name, kind, claimed, registry, dict(parameters), schemas, epsilon, delta, learner)


def subjects(registry: Registry) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Everything installed that an audit can be about, as (kind, name, parameters).

    Learners come once at their defaults and once for every other choice of one parameter, apart from those that only
    published procedures have; rules that claim no guarantee are left out.
    """
    for kind in AUDITED:
        for name in registry.names(kind):
            found = registry.get(kind, name)
            if found.guarantee == "none":
                continue
            yield kind, name, {}
            if kind == "classifier":
                apart = {key for settings in found.published for key in settings}
                for p in parameters_of(found):
                    if p.name not in apart:
                        yield from ((kind, name, {p.name: c}) for c in p.choices or () if c != p.default)
