"""Write pages without network access: answers in their passage, and reports about runs."""
