"""The papers' tables and figures: which runs, which measurement, and their numbers beside ours."""
