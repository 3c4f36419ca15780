"""Train any task: a thin subclass of the Hugging Face Trainer and a run folder around it."""
