"""The parts of a hosted tool turn, each a class born from its disk whose coroutines only ask."""
