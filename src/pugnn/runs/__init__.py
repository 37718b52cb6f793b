"""Runs: a folder with everything one training produced. Modules are imported where they are used: some need torch."""
