"""Features that are learned through their values, which many bundles share."""

from __future__ import annotations

import itertools

import torch
from torch.nn.functional import cross_entropy, one_hot

from syntagma.parse.morphology_scorer import MorphologyScorer

CASES, NUMBERS = ("Nom", "Gen", "Dat", "Acc"), ("Sing", "Plur", "Dual")
BUNDLES = ["_", *(f"Case={c}|Number={n}" for c, n in itertools.product(CASES, NUMBERS))]
RARE = BUNDLES.index("Case=Dat|Number=Dual")
WIDTH = len(CASES) + len(NUMBERS)


def word(bundle: int) -> torch.Tensor:
    """A vector from which case and number can be read, ``[1, 1, width]``."""
    case, number = divmod(bundle - 1, len(NUMBERS))
    parts = one_hot(torch.tensor(case), len(CASES)), one_hot(torch.tensor(number), len(NUMBERS))
    return torch.cat(parts).float().reshape(1, 1, WIDTH)


def trained(*, by_value: bool) -> MorphologyScorer:
    """A scorer that saw the rare bundle once in a hundred words."""
    torch.manual_seed(1)
    scorer = new(by_value=by_value)
    gold = torch.tensor([*(bundle for bundle in range(1, 13) if bundle != RARE)] * 9 + [RARE])
    words = torch.cat([word(int(bundle)) for bundle in gold], 1)
    optimizer = torch.optim.Adam(scorer.parameters(), lr=1e-2)
    for _ in range(40):
        feats, _ = scorer(words, words)
        assert feats is not None
        optimizer.zero_grad()
        cross_entropy(feats[0], gold).backward()
        optimizer.step()
    return scorer


def test_a_bundle_that_training_hardly_showed_is_found_by_its_values():
    probability = {}
    for by_value in (False, True):
        feats, _ = trained(by_value=by_value)(word(RARE), word(RARE))
        assert feats is not None
        probability[by_value] = feats[0, 0].softmax(-1)[RARE].item()
    assert probability[True] > 0.3
    assert probability[False] < 0.1


def scores(scorer: MorphologyScorer, words: torch.Tensor) -> torch.Tensor:
    feats, _ = scorer(words, words)
    assert feats is not None
    return feats


def new(*, by_value: bool) -> MorphologyScorer:
    scorer = MorphologyScorer(WIDTH, 16, n_feats=len(BUNDLES), n_scripts=2)
    if by_value:
        assert scorer.feats is not None
        scorer.feats.learn_by_value(BUNDLES)
    return scorer


def test_values_are_saved_and_loaded_as_a_part_of_the_bundles():
    words = torch.randn(2, 5, WIDTH)
    learned = trained(by_value=True)
    expected = scores(learned, words)
    saved = {name: weight.clone() for name, weight in learned.state_dict().items()}
    assert saved.keys() == new(by_value=False).state_dict().keys()
    for scorer in (new(by_value=False), new(by_value=True), learned):
        scorer.load_state_dict(saved)
        torch.testing.assert_close(scores(scorer, words), expected)


def test_training_goes_on_after_loading_as_if_nothing_had_happened():
    words, gold = torch.randn(1, 9, WIDTH), torch.arange(9)
    after = []
    for is_loaded in (False, True):
        scorer = trained(by_value=True)
        if is_loaded:
            scorer.load_state_dict({name: w.clone() for name, w in scorer.state_dict().items()})
        optimizer = torch.optim.Adam(scorer.parameters(), lr=1e-2)
        for _ in range(5):
            optimizer.zero_grad()
            cross_entropy(scores(scorer, words)[0], gold).backward()
            optimizer.step()
        after.append(scores(scorer, words))
    torch.testing.assert_close(*after, rtol=1e-4, atol=1e-4)


def test_other_weights_leave_the_values_as_they_are():
    learned = trained(by_value=True)
    words = torch.randn(2, 5, WIDTH)
    expected = scores(learned, words)
    others = {k: w for k, w in learned.state_dict().items() if not k.startswith("feats")}
    missing, unexpected = learned.load_state_dict(others, strict=False)
    assert sorted(missing) == ["feats.bias", "feats.weight"]
    assert not unexpected
    torch.testing.assert_close(scores(learned, words), expected)
