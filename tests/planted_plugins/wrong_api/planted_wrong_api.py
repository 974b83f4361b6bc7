"""Is made for another dpcore; importing it would say so on stderr."""

raise RuntimeError("imported although its API version does not fit")
