"""The Haystack components in Haystack's own pipelines, and its retrievers as ours."""

import sys
from importlib import import_module

import pytest
from haystack import Document, Pipeline, component
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers import SentenceWindowRetriever, TextEmbeddingRetriever
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.telemetry import _telemetry
from haystack.utils import ComponentDevice

from syntagma.encoders.default import find_default
from syntagma.errors import InputError, MissingExtraError
from syntagma.integrations.haystack import (
    HaystackRetriever,
    SyntagmaReader,
    SyntagmaSentenceSplitter,
)
from syntagma.tasks.open_qa.answers import Candidate, OpenPrediction
from syntagma.tasks.open_qa.documents import DocumentReader
from syntagma.tasks.open_qa.outcomes import OpenAnswer
from syntagma.tasks.open_qa.reader import OpenReader
from syntagma.tasks.spans.answers import Excerpt
from tests.messages import naming

needs_default = pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)
MODULE = "syntagma.integrations.haystack"
CREW = "Ada Mensah built the ferry. Kofi Boateng steered it."
FARE = "The fare was three pence.\f A crossing took an hour."


def span(text: str, start: int, share: float, document: int = 0) -> Candidate:
    return Candidate(text, start, start + len(text), 0.0, share, document, str(document), 1)


ADA, KOFI = span("Ada Mensah", 0, 0.4), span("Kofi Boateng", 28, 0.2)
PENCE = span("three pence", 13, 0.1, document=1)


def decided(outcome: str, confidence: float, no_answer: float, **changes) -> OpenAnswer:
    """What a reader gives, whose best candidate is Ada Mensah."""
    shown = {"text": ADA.text, "start": ADA.start, "end": ADA.end, "spans": (ADA,)}
    if outcome == "none":
        shown = {"text": "", "start": None, "end": None, "spans": ()}
    values = {
        "question": "Who?",
        "outcome": outcome,
        "confidence": confidence,
        "no_answer": no_answer,
        "reason": "",
        "candidates": (ADA, KOFI, PENCE),
        "sentence": Excerpt("Ada Mensah built the ferry.", 0, 27),
        "calibrated": True,
        "mode": "balanced",
        "threshold": None,
        "prediction": OpenPrediction.of("Who?", (ADA, KOFI, PENCE), no_answer),
    }
    return OpenAnswer(**values | shown | changes)


class GivesAnswer:
    """Stands for a reader that was loaded."""

    def __init__(self, answer: OpenAnswer) -> None:
        self.given = answer
        self.scores: list[float | None] = []

    def answer(self, question, paragraphs, *, mode):
        self.scores = [each.score for each in paragraphs]
        return self.given


def answers(found: OpenAnswer, documents=None, **options):
    component = SyntagmaReader()
    component._reader = GivesAnswer(found)
    documents = documents or [Document(content=CREW), Document(content=FARE)]
    return component.run(query="Who?", documents=documents, **options)["answers"]


def test_an_answer_comes_first_with_its_confidence_though_no_answer_is_likelier():
    found = answers(decided("answer", 0.3, 0.45))
    assert [each.data for each in found] == ["Ada Mensah", None, "Kofi Boateng", "three pence"]
    assert found[0].score == 0.3
    assert found[1].score == 0.45
    # Half and a quarter as likely as the best one, and together no more than what is left.
    assert [each.score for each in found[2:]] == pytest.approx([0.15, 0.075])
    assert {each.meta["outcome"] for each in found} == {"answer"}
    for each in (found[0], *found[2:]):
        offset = each.document_offset
        assert each.document.content[offset.start : offset.end] == each.data
    context = found[0].context_offset
    assert found[0].context[context.start : context.end] == "Ada Mensah"


def test_scores_add_up_to_one_at_most():
    found = answers(decided("answer", 0.7, 0.2))
    assert sum(each.score for each in found) == pytest.approx(1)
    assert [each.data for each in found][:2] == ["Ada Mensah", None]
    assert found[2].score == pytest.approx(0.1 * 2 / 3)


def test_without_an_answer_the_first_has_no_text():
    found = answers(decided("none", 0.02, 0.95))
    assert [each.data for each in found] == [None, "Ada Mensah", "Kofi Boateng", "three pence"]
    assert found[0].document is None
    assert found[0].document_offset is None
    assert found[0].score == 0.95
    assert [each.score for each in found[1:]] == pytest.approx([0.02, 0.01, 0.005])
    assert found[1].context is None
    assert sum(each.score for each in found) <= 1


def test_an_unsure_answer_is_marked():
    found = answers(decided("unsure", 0.2, 0.6, reason="the text may not answer this"))
    assert found[0].data == "Ada Mensah"
    assert found[0].meta == {"outcome": "unsure", "reason": "the text may not answer this"}
    assert found[1].data is None
    assert all("reason" not in each.meta for each in found[1:])


def test_the_parts_of_a_list_are_told_and_not_repeated():
    both = {"text": CREW[:40], "start": 0, "end": 40, "spans": (ADA, KOFI)}
    found = answers(decided("answer", 0.5, 0.1, **both))
    assert [each.data for each in found] == [CREW[:40], "three pence", None]
    assert [part["data"] for part in found[0].meta["parts"]] == ["Ada Mensah", "Kofi Boateng"]
    assert found[0].context is None  # It is longer than the sentence.


def test_top_k_does_not_count_the_answer_without_text():
    found = answers(decided("answer", 0.6, 0.3), top_k=1)
    assert [each.data for each in found] == ["Ada Mensah", None]
    assert [each.data for each in answers(decided("answer", 0.6, 0.3), no_answer=False)] == [
        "Ada Mensah", "Kofi Boateng", "three pence",
    ]  # fmt: skip
    kept = answers(decided("answer", 0.6, 0.3), score_threshold=0.3)
    assert [each.score for each in kept] == [0.6, 0.3]
    with pytest.raises(InputError, match=naming("top_k 1 0")):
        answers(decided("answer", 0.6, 0.3), top_k=0)


def test_the_page_of_an_answer_is_counted_from_that_of_its_document():
    late = span("an hour", FARE.index("an hour"), 0.5, document=1)
    found = decided("answer", 0.6, 0.3, candidates=(late,), spans=(late,), text=late.text,
                    start=late.start, end=late.end)  # fmt: skip
    documents = [Document(content=CREW), Document(content=FARE, meta={"page_number": 4})]
    assert answers(found, documents)[0].meta["answer_page_number"] == 5


@pytest.mark.parametrize("own", [True, False])
def test_pages_are_right_after_form_feeds_at_the_start(own):
    whole = Document(content="\f\fAda Mensah built the ferry. It sailed.\fKofi Boateng steered it.")
    splitter = SyntagmaSentenceSplitter(3) if own else DocumentSplitter("word", 50)
    (split,) = splitter.run(documents=[whole])["documents"]
    places = [split.content.index(name) for name in ("Ada", "Kofi")]
    ada, kofi = span("Ada Mensah", places[0], 0.4), span("Kofi Boateng", places[1], 0.2)
    found = decided("answer", 0.6, 0.1, candidates=(ada, kofi), spans=(ada,), start=ada.start,
                    end=ada.end)  # fmt: skip
    pages = [each.meta["answer_page_number"] for each in answers(found, [split]) if each.data]
    assert pages == [3, 4]


def test_scores_of_documents_are_passed_on_if_all_have_one():
    component = SyntagmaReader()
    component._reader = GivesAnswer(decided("answer", 0.6, 0.3))
    scored = [Document(content=CREW, score=2.5), Document(content=FARE, score=1.0)]
    component.run(query="Who?", documents=scored)
    assert component._reader.scores == [2.5, 1.0]
    component.run(query="Who?", documents=[*scored, Document(content="A gull.")])
    assert component._reader.scores == [None, None, None]


def test_without_a_document_to_read_there_is_no_answer():
    assert answers(decided("none", 0.0, 1.0), [Document(content=" "), Document(content=None)]) == []


def test_components_are_saved_and_loaded():
    reader = SyntagmaReader(
        "my-reader", parser="random", mode="strict", top_k=3, score_threshold=0.1, no_answer=False,
        device=ComponentDevice.from_str("cpu"),
    )  # fmt: skip
    data = reader.to_dict()
    assert data["type"] == f"{MODULE}.SyntagmaReader"
    again = SyntagmaReader.from_dict(data)
    assert again.to_dict() == data
    assert again.device == ComponentDevice.from_str("cpu")
    splitter = SyntagmaSentenceSplitter(4, 1)
    pipeline = Pipeline()
    pipeline.add_component("splitter", splitter)
    pipeline.add_component("reader", reader)
    pipeline.connect("splitter.documents", "reader.documents")
    loaded = Pipeline.loads(pipeline.dumps(), allowed_modules=[MODULE])
    assert loaded.get_component("splitter").to_dict() == splitter.to_dict()
    assert loaded.get_component("reader").to_dict() == data


def test_wrong_settings_are_refused():
    with pytest.raises(InputError, match=naming("strict balanced lenient 'sure'")):
        SyntagmaReader(mode="sure")
    with pytest.raises(InputError, match=naming("split_length 1 0")):
        SyntagmaSentenceSplitter(0)
    with pytest.raises(InputError, match=naming("split_overlap 2 2")):
        SyntagmaSentenceSplitter(2, 2)
    with pytest.raises(InputError, match=naming("None text")):
        SyntagmaSentenceSplitter().run(documents=[Document(content=None)])


LETTER = "  Mr. Low wrote at 5 p.m. on Friday. Nobody replied!\f\n\nThe ferry sank. It rained.\n"


@pytest.mark.parametrize(
    ("length", "overlap", "n_splits"), [(1, 0, 4), (2, 0, 2), (3, 2, 2), (9, 3, 1)]
)
def test_splits_hold_all_of_the_text(length, overlap, n_splits):
    document = Document(content=LETTER, meta={"author": "Low"})
    splits = SyntagmaSentenceSplitter(length, overlap).run(documents=[document])["documents"]
    assert len(splits) == n_splits
    position = 0
    for number, split in enumerate(splits):
        start = split.meta["split_idx_start"]
        assert split.content == LETTER[start : start + len(split.content)]
        assert start <= position
        position = start + len(split.content)
        assert split.meta["split_id"] == number
        assert split.meta["source_id"] == document.id
        assert split.meta["author"] == "Low"
    assert position == len(LETTER)
    assert document.meta == {"author": "Low"}


def test_splits_are_sentences_and_know_their_pages():
    splits = SyntagmaSentenceSplitter().run(documents=[Document(content=LETTER)])["documents"]
    assert [each.content.strip() for each in splits] == [
        "Mr. Low wrote at 5 p.m. on Friday.", "Nobody replied!", "The ferry sank.", "It rained.",
    ]  # fmt: skip
    assert [each.meta["page_number"] for each in splits] == [1, 1, 2, 2]
    assert SyntagmaSentenceSplitter().run(documents=[Document(content=" ")]) == {"documents": []}


@pytest.mark.parametrize("text", ["\u200b", "\ufeff", "\xad", "\u200b\n\u200b"])
def test_a_text_of_zero_width_characters_is_one_split(text):
    splits = SyntagmaSentenceSplitter(2, 1).run(documents=[Document(content=text)])["documents"]
    assert [split.content for split in splits] == [text]


def test_splits_are_described_as_haystack_describes_them():
    """Its splitter finds the same sentences in this text, at full stops."""
    document = Document(content="A gull cried.B gull cried.C gull cried.D gull cried.")
    theirs = DocumentSplitter("period", 2, 1).run(documents=[document])["documents"]
    ours = SyntagmaSentenceSplitter(2, 1)
    document = Document(content=document.content.replace(".", ".\n\n").strip())
    found = ours.run(documents=[document])["documents"]
    assert len(found) == len(theirs)
    for one, other in zip(found, theirs, strict=True):
        assert one.meta.keys() == other.meta.keys()
        assert len(one.meta["_split_overlap"]) == len(other.meta["_split_overlap"])
        for shared in one.meta["_split_overlap"]:
            neighbour = next(each for each in found if each.id == shared["doc_id"])
            start, end = shared["range"]
            assert neighbour.content[start:end] in one.content
            assert end > start


def test_the_window_around_a_split_is_the_text_of_the_document():
    document = Document(content=LETTER)
    splits = SyntagmaSentenceSplitter().run(documents=[document])["documents"]
    store = InMemoryDocumentStore()
    store.write_documents(splits)
    around = SentenceWindowRetriever(store, window_size=1).run(retrieved_documents=[splits[2]])
    (text,) = around["context_windows"]
    start = splits[1].meta["split_idx_start"]
    assert text == LETTER[start:]


@pytest.fixture(scope="module")
def store() -> InMemoryDocumentStore:
    store = InMemoryDocumentStore()
    whole = [
        Document(content=CREW, meta={"file_path": "crew.txt"}),
        Document(content=FARE.replace("\f", ""), meta={"file_path": "fare.txt"}),
    ]
    store.write_documents(SyntagmaSentenceSplitter().run(documents=whole)["documents"])
    return store


def test_a_retriever_of_haystack_is_one_of_ours(store):
    retriever = HaystackRetriever(InMemoryBM25Retriever(store))
    (hits, others) = retriever.search(["Who steered the ferry?", "What was the fare?"], top=2)
    assert len(hits) == len(others) == 2
    assert hits[0].score >= hits[1].score
    (passage,) = retriever.passages([others[0].id])
    assert passage.text.strip() == "The fare was three pence."
    assert passage.source == "fare.txt"
    steered = next(
        each for each in retriever.passages([hit.id for hit in hits]) if "Kofi" in each.text
    )
    assert CREW[steered.start : steered.end] == steered.text
    with pytest.raises(InputError, match=naming("'unknown' search")):
        retriever.passages(["unknown"])


def test_options_of_a_retriever_are_passed_on(store):
    only = {"field": "meta.file_path", "operator": "==", "value": "fare.txt"}
    retriever = HaystackRetriever(InMemoryBM25Retriever(store), filters=only)
    (hits,) = retriever.search(["Who steered the ferry?"], top=9)
    assert {each.source for each in retriever.passages([hit.id for hit in hits])} == {"fare.txt"}


def test_documents_without_a_score_are_ranked():
    class Unscored:
        def run(self, query, top_k):
            return {"documents": [Document(content=word) for word in ("ferry", " ", "fare")]}

    retriever = HaystackRetriever(Unscored())
    (hits,) = retriever.search(["Who?"], top=5)
    assert [each.text for each in retriever.passages([hit.id for hit in hits])] == ["ferry", "fare"]
    assert hits[0].score > hits[1].score


WORDS = ("ferry", "fare", "lamp")


def vector(text: str) -> list[float]:
    return [float(word in text.lower()) for word in WORDS]


@component
class WordEmbedder:
    """Stands for a text embedder."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        return {"embedding": vector(text)}


def test_a_store_that_is_searched_by_vectors_needs_an_embedder_in_front():
    store = InMemoryDocumentStore()
    texts = ("The ferry left.", "The fare is low.", "A lamp is lit.")
    store.write_documents([Document(content=text, embedding=vector(text)) for text in texts])
    found = InMemoryEmbeddingRetriever(store)
    retriever = HaystackRetriever(
        TextEmbeddingRetriever(retriever=found, text_embedder=WordEmbedder())
    )
    (hits,) = retriever.search(["What is the fare?"], top=1)
    assert [each.text for each in retriever.passages([hit.id for hit in hits])] == [texts[1]]


@needs_default
def test_a_pipeline_and_a_reader_of_ours_find_the_same_answer(store):
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=3))
    pipeline.add_component("reader", SyntagmaReader(device=ComponentDevice.from_str("cpu")))
    pipeline.connect("retriever.documents", "reader.documents")
    question = "Who built the ferry?"
    ran = pipeline.run({"retriever": {"query": question}, "reader": {"query": question}})
    best = ran["reader"]["answers"][0]
    assert best.data == "Ada Mensah"
    assert best.meta["outcome"] == "answer"
    retriever = HaystackRetriever(InMemoryBM25Retriever(store))
    ours = DocumentReader(retriever, OpenReader.from_pretrained("default"), top=3).answer(question)
    assert ours.text == "Ada Mensah"
    assert ours.confidence == pytest.approx(best.score)
    assert (ours.source, ours.start) == ("crew.txt", 0)


def test_nothing_is_reported_from_tests():
    assert _telemetry.telemetry is None


def test_without_haystack_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "haystack", None)
    monkeypatch.delitem(sys.modules, MODULE)
    with pytest.raises(MissingExtraError, match=naming("pip install '.[haystack]'")):
        import_module(MODULE)
