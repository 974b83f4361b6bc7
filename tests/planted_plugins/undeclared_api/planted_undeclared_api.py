"""Does not say which dpcore it needs."""

raise RuntimeError("imported although it declares no API version")
