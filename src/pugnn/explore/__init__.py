"""The case room: a run in the browser, and a loop that learns from every decision."""
