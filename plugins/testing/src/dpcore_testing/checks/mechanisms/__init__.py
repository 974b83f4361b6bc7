"""Checks of mechanisms: how much noise, whether it is enough, and whether what is drawn is what is stated."""
