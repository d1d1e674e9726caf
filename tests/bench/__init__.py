"""What a run costs, as ratios within one process and as counts. Run by ``python -m tests.bench``."""
