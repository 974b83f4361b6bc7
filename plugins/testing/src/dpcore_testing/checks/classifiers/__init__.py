"""Checks of learners: what they plan, what they ask, and what their models hold."""
