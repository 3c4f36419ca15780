"""Classification of mentions marked in a sentence: shared by entity typing and relations."""
