"""How a person gets to know: the command line, terminal, files, and the pytest plugin."""
