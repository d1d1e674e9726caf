"""Durable state behind one port: rows in named tables, changed by whole transactions."""
