"""A foreground Shell call wherever it runs: its process, its captured output, its admission (003 O1c)."""
