"""The text of documents, with its structure: plain text, Markdown, HTML, Word and PDF files."""
