"""Checks of sensitivity rules: bounds that hold for every pair of neighbours, by brute force over small tables."""
