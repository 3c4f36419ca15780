"""The files of a run folder: training writes them, analysis and reports read them."""
