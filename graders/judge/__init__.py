"""Judges one submission after the other: what is asked, what should come back, what it says."""
