"""What holds for every test of the workspace."""

import os

# Before SciPy is imported: without it scikit-learn skips its check of array API inputs.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
