"""The weights of a saved parser for one that has more labels."""

import torch

from syntagma.parse.added_labels import added_to, with_new_rows


def test_saved_rows_come_first_and_new_ones_after_them():
    saved = {"tags": torch.ones(2, 3), "bias": torch.ones(2), "scale": torch.tensor(5.0)}
    new = {"tags": torch.zeros(4, 3), "bias": torch.zeros(2), "scale": torch.tensor(0.0)}
    found = with_new_rows(saved, new | {"more": torch.zeros(1)})
    assert found.keys() == saved.keys()
    assert found["tags"].tolist() == [[1.0] * 3] * 2 + [[0.0] * 3] * 2
    assert found["bias"] is saved["bias"]
    assert found["scale"] is saved["scale"]
    assert added_to(saved, new) == {"tags"}


def test_a_weight_that_only_the_saved_parser_has_is_kept():
    assert with_new_rows({"old": torch.ones(1)}, {}) == {"old": torch.ones(1)}
