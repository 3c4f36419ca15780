"""Make data sets: unanswerable questions, and sentences for probing."""
