"""scikit-learn's own checks, on `DPClassifier` with this learner."""

from __future__ import annotations

import os

from dpcore.errors import CapabilityError
from dpcore.planning import make_plan
from dpcore.schema import Nominal, Numeric, Schema
from dpcore_testing.checks.base import Failed, Skipped, Subject, check, plural

_NUMERIC = Schema([Numeric("x", 0, 1)], Nominal("class", ["a", "b", "c"]))
"""What scikit-learn's checks ask of a classifier."""


@check("classifier")
def passes_scikit_learns_checks(subject: Subject) -> str:
    """`DPClassifier` with this learner passes scikit-learn's checks of classifiers."""
    # read when SciPy is imported; without it scikit-learn skips its check of array API inputs
    os.environ.setdefault("SCIPY_ARRAY_API", "1")
    try:
        make_plan(subject.name, _NUMERIC, epsilon=1.0, registry=subject.registry)
    except CapabilityError as error:
        raise Skipped(f"they need numbers and three classes: {error}") from None
    from sklearn.utils.estimator_checks import check_estimator

    from dpcore.estimator import DPClassifier

    estimator = DPClassifier(subject.name, epsilon=1e6, schema="private", random_state=0)
    done = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = [row for row in done if row["status"] == "failed"]
    if failed:
        first = failed[0]
        more = f" ({len(failed) - 1} more fail)" if len(failed) > 1 else ""
        raise Failed(f"{first['check_name']}: {type(first['exception']).__name__}: {first['exception']}{more}")
    passed = sum(row["status"] == "passed" for row in done)
    skipped = len(done) - passed
    return f"{passed} of {plural(len(done), 'check')} passed" + (f", {skipped} skipped" if skipped else "")
