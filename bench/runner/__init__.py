"""The parts of run.py: what is run, how it is measured, and how it is told."""
