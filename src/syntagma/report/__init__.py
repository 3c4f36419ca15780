"""Write self-contained HTML pages: answers in their passage, and reports on training runs."""
