"""An error that comes out of `untold` says what was wrong, and neither it nor what it came from shows a cell."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils.validation import check_array, check_X_y

from canary import NUMBER, TEXT, texts_of, told
from dpcore.errors import BudgetError, InputError
from dpcore.untold import untold


def raised(work: Callable[[], Any]) -> BaseException:
    """The error that comes out of `untold`."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        untold(work)()
    return caught.value


def raising(error: BaseException, cause: BaseException | None = None) -> Callable[[], Any]:
    """Work that fails while it deals with an error that tells."""

    def work() -> None:
        try:
            int(TEXT)
        except ValueError:
            raise error from cause

    return work


TELLING: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "one dimension": (lambda: check_array(np.full(3, NUMBER)), ValueError, "Expected 2D array, got 1D array instead. "),
    "no dimension": (lambda: check_array(NUMBER), ValueError, "Expected 2D array, got scalar array instead. "),
    "complex numbers": (lambda: check_array(np.full((2, 2), NUMBER + 1j)), ValueError, "Complex data not supported"),
    "text": (lambda: check_array(np.array([[TEXT]], dtype=object)), ValueError, "text stands where numbers must"),
    "text as float": (lambda: np.array([TEXT]).astype(float), ValueError, "text stands where numbers must"),
    "text as int": (lambda: int(TEXT), ValueError, "text stands where numbers must"),
    "text that is not Unicode": ((TEXT + "\ud800").encode, ValueError, "not valid Unicode"),
    "an endless number": (lambda: float(10**400), ValueError, "no float can hold"),
    "a dict's key": (lambda: {}[TEXT], RuntimeError, "KeyError in "),
    "an object's own error": (raising(RuntimeError(TEXT, NUMBER)), RuntimeError, "RuntimeError in "),
    "a subclass of ValueError": (raising(np.linalg.LinAlgError("singular")), ValueError, "singular"),
}


@pytest.mark.parametrize("claim", TELLING)
def test_a_cell_in_an_error_is_left_out(claim: str) -> None:
    work, kind, says = TELLING[claim]
    with pytest.raises(Exception) as bare:  # noqa: PT011
        work()
    assert told(texts_of(bare.value)) or claim == "an endless number"  # or the case is none
    error = raised(work)
    assert type(error) is kind
    assert says in str(error)
    assert told(texts_of(error)) == []
    assert error.__cause__ is error.__context__ is None


@pytest.mark.parametrize(
    "error",
    [
        InputError("attribute 'fee' must be numeric."),
        BudgetError("not enough is left."),
        NotFittedError("not fitted."),
        MemoryError("no room."),
        DataConversionWarning("a column vector was passed."),
        ValueError("X has 3 columns."),
        TypeError("a set is no array."),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("cause", [None, ValueError(TEXT)], ids=["in passing", "from it"])
def test_words_that_tell_nothing_are_kept_without_what_they_came_from(error: Exception, cause: Any) -> None:
    found = raised(raising(error, cause))
    assert (type(found), str(found)) == (type(error), str(error))
    assert found.__cause__ is found.__context__ is None


def test_lengths_that_differ_are_told() -> None:
    error = raised(lambda: check_X_y(np.full((3, 1), NUMBER), [1, 0]))
    assert str(error) == "Found input variables with inconsistent numbers of samples: [3, 2]"


def test_the_whole_is_shown_to_who_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPCORE_DEBUG", "1")
    assert isinstance(raised(lambda: {}[TEXT]), KeyError)
    assert told(texts_of(raised(lambda: int(TEXT)))) == []  # what is foreseen is rewritten all the same


def test_an_interrupt_is_no_error_of_the_rows() -> None:
    with pytest.raises(KeyboardInterrupt):
        untold(raising(KeyboardInterrupt()))()


def test_what_works_is_returned_with_its_warnings() -> None:
    def work(x: int, *, y: int) -> int:
        """Add."""
        warnings.warn("odd", UserWarning, stacklevel=1)
        return x + y

    wrapped = untold(work)
    assert wrapped.__doc__ == "Add."
    with pytest.warns(UserWarning, match="odd"):
        assert wrapped(1, y=2) == 3
