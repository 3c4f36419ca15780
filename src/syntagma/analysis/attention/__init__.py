"""Look into models while they read, and draw what is seen: attention, turns of co-attention."""

from syntagma.analysis.attention.draw import draw_attention, draw_turns
from syntagma.analysis.attention.matrices import GUIDED, attention_matrices, attention_matrix
from syntagma.analysis.attention.observation import Look, Shown, look, open_predictor, sentences_of
from syntagma.analysis.attention.word_scores import answer_scores, turn_scores

__all__ = [
    "GUIDED",
    "Look",
    "Shown",
    "answer_scores",
    "attention_matrices",
    "attention_matrix",
    "draw_attention",
    "draw_turns",
    "look",
    "open_predictor",
    "sentences_of",
    "turn_scores",
]
