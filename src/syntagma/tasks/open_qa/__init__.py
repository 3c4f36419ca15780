"""Open-domain question answering over retrieved paragraphs."""
