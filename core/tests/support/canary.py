"""Values that stand in rows and nowhere else, so that wherever they turn up, a row was told."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from struct import pack

TEXT = "CANARY4711"
NUMBER = 73519.24680135791
WHOLE = 5_318_008_471_113
DATE = "2471-05-17"

_WORDS = (TEXT, "73519", "5318008471", "5.318008e", "5.31801e", DATE)
"""How a message could repeat them, if only to six digits."""
_BYTES = (
    *(form.encode(coding) for form in (TEXT, "73519.2468013", "5318008471113") for coding in ("utf-8", "utf-16-le")),
    *(TEXT.encode().hex().encode(), TEXT[::-1].encode(), DATE.encode()),
    *(pack(order + "d", number) for order in "<>" for number in (NUMBER, float(WHOLE))),
    *(pack(order + "q", WHOLE) for order in "<>"),
)
"""How a file could: long enough that no noise and no hash looks like one by chance."""


def told(texts: Iterable[str]) -> list[str]:
    """The texts that tell a row."""
    return [text for text in texts if any(word in text for word in _WORDS)]


def holds(content: bytes) -> list[bytes]:
    """The values that a file or a pickle holds."""
    return [form for form in _BYTES if form in content]


def files_that_hold(folder: Path) -> dict[str, list[bytes]]:
    """Every file below a folder that holds one of the values, in its content or its name."""
    found = {str(path): holds(path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*")}
    return {name: held for name, held in found.items() if held or told([Path(name).name])}


def texts_of(error: BaseException | None) -> list[str]:
    """All that an error says, as a traceback and in every part, and all errors that it came from."""
    if error is None:
        return []
    return [
        "".join(traceback.format_exception(error, limit=0)),
        *(text for one in _chain(error) for text in _parts(one)),
    ]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException | None] = [None]
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or any(one is other for other in seen):
            continue
        seen.append(one)
        yield one
        waiting += [one.__cause__, one.__context__]


def _parts(error: BaseException) -> Iterator[str]:
    yield from (str(error), repr(error), repr(getattr(error, "__notes__", "")))
    for part in (*error.args, *vars(error).values()):
        yield from (str(part), repr(part))
