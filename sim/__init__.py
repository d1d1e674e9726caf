"""The system under test, and the worlds that run it."""
