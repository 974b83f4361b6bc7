"""Is not Python."""

def dpcore_mechanisms(:
