"""Pages without network: answers in their passage, and runs in a report."""
