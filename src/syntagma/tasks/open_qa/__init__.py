"""Open-domain questions, answered from many retrieved paragraphs."""
