"""The low bits of what is released: they must tell nothing of the exact answer."""

from __future__ import annotations

from dpcore.errors import InputError
from dpcore.noise import SeededNoise
from dpcore_testing.checks.base import ALPHA, Failed, Skipped, Subject, check, doing, plural
from dpcore_testing.lowbits import audit_low_bits

_TRIALS = 20_000


@check("mechanism")
def hides_in_every_bit(subject: Subject) -> str:
    """Outputs lie on the stated grid, and neither they nor their last bits tell more than is paid for."""
    if not {"l1", "l2"} & set(subject.factory.accepts):
        raise Skipped("it adds no noise to numbers.")
    made = subject.factory()
    noise = SeededNoise(int(subject.rng("hides_in_every_bit").integers(2**31)))
    with doing("many releases of one number"):
        try:
            found = audit_low_bits(made, trials=_TRIALS, confidence=1 - ALPHA, seed=subject.seed, noise=noise)
        except InputError as reason:
            raise Skipped(str(reason)) from None
    for one in found:
        where = f"bound {one.sensitivity:g} at {one.cost}"
        if one.off_grid:
            raise Failed(
                f"{where}: {plural(one.off_grid, 'output')} of {one.outputs} are no multiples of {one.grid:g}."
            )
        if one.verdict != "ok":
            raise Failed(
                f"{where}: the {one.feature} tells exact answers {one.exact[0]:g} and {one.exact[1]:g} apart: a loss "
                f"of {one.loss:.3g} where epsilon = {one.epsilon:g} is paid."
            )
    return f"{sum(one.outputs for one in found)} outputs at alpha = {ALPHA:g}"
