"""What the tasks share that classify mentions marked in a sentence."""
