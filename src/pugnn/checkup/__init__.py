"""The check-up: what a graph and its known positives look like before anything is trained."""
