"""What is promised: the rows, the loss table, the field cases, and the verdict over a run."""
