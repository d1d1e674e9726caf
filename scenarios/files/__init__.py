"""Rows that somebody writes in a TOML file: read, checked whole, and made rows like any other. Nothing in it is run."""

from scenarios.files.problem import Invalid, Problem
from scenarios.files.reading import problems, row
from scenarios.files.starter import STARTER, schema_text

__all__ = ["STARTER", "Invalid", "Problem", "problems", "row", "schema_text"]
