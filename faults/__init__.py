"""What can go wrong: the fates, plans of faults, sweeps over every point, and the engine that runs them."""
