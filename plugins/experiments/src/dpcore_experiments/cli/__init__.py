"""The verb of this package."""
