"""What holds for every test of the workspace."""

import os

# Before SciPy is imported: without it scikit-learn skips its check of array API inputs.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are no names: an archive holds the time at which it was made, and processes must agree on names."""
    return argname if isinstance(val, bytes) else None
