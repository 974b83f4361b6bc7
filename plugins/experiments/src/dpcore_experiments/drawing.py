"""How figures look: colours that colour-blind readers can tell apart, a marker beside every colour, quiet axes."""

from __future__ import annotations

import contextlib
import io
import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe & Ito (2008), the pale ones last
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7A5195", "#E69F00", "#56B4E9", "#444444")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (4, 1.5, 1, 1.5)))
INK, QUIET, RULE = "#1c2430", "#5d6875", "#dfe4ea"
_WIDEST_LOG = 1e5
"""Epsilons further apart than this are drawn at equal steps."""


@attrs.frozen(eq=False)
class Drawing:
    """A figure and what it says.

    Args:
        name: of its files.
        title, text: the caption: what it shows, and how to read it.
        figure: of matplotlib.
    """

    name: str
    title: str
    text: str
    figure: Figure

    def svg(self) -> str:
        """The figure as an SVG element that can stand in a page beside others."""
        import matplotlib as mpl

        buffer = io.StringIO()
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": self.name}):
            self.figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
        drawn = buffer.getvalue()
        drawn = drawn[drawn.index("<svg") :]
        drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
        # identifiers must differ from those of the page's other figures
        drawn = re.sub(r'\bid="', f'id="{self.name}-', drawn)
        drawn = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{self.name}-", drawn)
        return re.sub(r'<svg ([^>]*?)(?:width|height)="[^"]*" ?', r"<svg \1", drawn, count=1)

    def save(self, kind: str) -> bytes:
        """The figure as a file of its own, `svg` or `png`."""
        import matplotlib as mpl

        buffer = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": self.name}):
            metadata = {"Date": None} if kind == "svg" else {}
            self.figure.savefig(buffer, format=kind, dpi=160, facecolor="white", metadata=metadata)
        return buffer.getvalue()


@contextlib.contextmanager
def style() -> Iterator[None]:
    """matplotlib with this look, drawing to memory only."""
    import matplotlib as mpl

    mpl.use("Agg")
    look: Any = {
        "font.family": ["DejaVu Sans", "sans-serif"], "font.size": 9, "axes.titlesize": 10, "axes.titleweight": "bold",
        "axes.titlelocation": "left", "axes.edgecolor": QUIET, "axes.labelcolor": INK, "text.color": INK,
        "xtick.color": QUIET, "ytick.color": QUIET, "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "axes.axisbelow": True, "grid.color": RULE, "grid.linewidth": 0.7, "lines.linewidth": 1.7,
        "lines.markersize": 4.2, "legend.frameon": False, "axes.linewidth": 0.8,
    }  # fmt: skip
    with mpl.rc_context(look):
        yield


def colour(index: int) -> str:
    """The colour of a method."""
    return COLOURS[index % len(COLOURS)]


def line(index: int) -> dict[str, Any]:
    """Colour, marker and dashes of a method's line; they differ for 32 of them."""
    return {
        "color": colour(index),
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index // len(COLOURS) % len(DASHES)],
    }


@attrs.frozen
class Budgets:
    """Where epsilons stand on an axis: by their logarithm, or at equal steps where that would crowd them."""

    epsilons: tuple[float, ...]

    @property
    def stepped(self) -> bool:
        """Whether they stand at equal steps."""
        return len(self.epsilons) > 1 and self.epsilons[-1] / self.epsilons[0] > _WIDEST_LOG

    def places(self) -> list[float]:
        """Their places."""
        return [float(i) if self.stepped else math.log10(e) for i, e in enumerate(self.epsilons)]

    @property
    def step(self) -> float:
        """The smallest distance between two of them."""
        places = self.places()
        return min((b - a for a, b in pairwise(places)), default=1.0)

    def label(self, axes: Axes, *, words: bool = True) -> None:
        """Ticks, and what the axis is."""
        places = self.places()
        axes.set_xticks(places, [_short(e) for e in self.epsilons], fontsize=7.5)
        if len(places) > 4:
            axes.tick_params(axis="x", labelrotation=45)
        room = 0.03 * ((places[-1] - places[0]) or 1.0) + 0.09 * self.step
        axes.set_xlim(places[0] - room, places[-1] + room)
        if words:
            axes.set_xlabel("epsilon of a whole fit" + (" (equal steps)" if self.stepped else ""))


def _short(epsilon: float) -> str:
    if epsilon >= 1e-4:
        return f"{epsilon:g}"
    mantissa, exponent = f"{epsilon:e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def grid(panels: int, *, columns: int = 3, width: float = 3.3, height: float = 2.5) -> tuple[Figure, list[Axes]]:
    """A figure of equal panels with one vertical scale, and its axes."""
    from matplotlib import pyplot as plt

    columns = min(columns, panels)
    rows = -(-panels // columns)
    size = (max(width * columns, 4.6), height * rows + 0.7)
    figure, axes = plt.subplots(rows, columns, figsize=size, sharey=True, layout="constrained", squeeze=False)
    flat = list(axes.flat)
    for unused in flat[panels:]:
        unused.set_visible(False)
    return figure, flat[:panels]


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], width: float) -> None:
    """One legend over all panels."""
    longest = max(map(len, labels))
    columns = max(1, min(len(labels), int(width / (0.075 * longest + 0.55))))
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, fontsize=8.5, handlelength=2.6)
