"""Train any task with a thin subclass of the Hugging Face Trainer, in resumable run folders."""
