"""The parse cache: texts are parsed once, and again if a file is damaged."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

from syntagma.errors import InputError
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.cache import CachedSource, ParseCache
from syntagma.parse.sources.load import kept_source, load_source
from syntagma.parse.sources.treebank import TreebankSource
from syntagma.text.conllu import TreebankSentence, format_conllu
from syntagma.text.sentence import Parse, Sentence
from syntagma.text.tokens import multiword_tokens
from tests.conftest import SENTENCES
from tests.messages import naming, says


class Counting:
    """A source of chains that counts the texts it parses."""

    def __init__(self, fingerprint="counting"):
        self.fingerprint = fingerprint
        self.count = 0

    def parse_texts(self, texts):
        for text in texts:
            self.count += 1
            yield from load_source("linear").parse_texts([text])


def parses(cache, texts):
    return [found.parses(text) for text, found in zip(texts, cache.parsed(texts), strict=True)]


def test_texts_are_parsed_once(tmp_path):
    source = Counting()
    cache = ParseCache(source, tmp_path, group=3)
    texts = [*SENTENCES, SENTENCES[0], ""]
    first = parses(cache, texts)
    assert source.count == len(SENTENCES) + 1
    again = ParseCache(source, tmp_path)
    assert parses(again, texts) == first
    assert source.count == len(SENTENCES) + 1
    expected = list(load_source("linear").parse_texts(texts))
    assert first == expected


def test_several_processes_share_the_texts(tmp_path, monkeypatch):
    monkeypatch.setattr("syntagma.parse.sources.cache.POLL_SECONDS", 0.01)
    texts = [f"{sentence} {number}." for number in range(5) for sentence in SENTENCES]
    sources = [Counting() for _ in range(3)]
    caches = [ParseCache(source, tmp_path, group=4) for source in sources]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda cache: parses(cache, texts), caches))
    assert found == [list(load_source("linear").parse_texts(texts))] * 3
    assert sum(source.count for source in sources) == len(texts)
    assert not list(tmp_path.rglob("*.lock"))


def test_a_process_waits_for_a_group_that_another_one_is_parsing(tmp_path, monkeypatch):
    monkeypatch.setattr("syntagma.parse.sources.cache.POLL_SECONDS", 0.01)
    started, may_finish = Event(), Event()

    class Slow(Counting):
        def parse_texts(self, texts):
            started.set()
            assert may_finish.wait(10)
            yield from super().parse_texts(texts)

    slow, quick = Slow(), Counting()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ParseCache(slow, tmp_path).parsed, SENTENCES)
        assert started.wait(10)
        second = pool.submit(ParseCache(quick, tmp_path).parsed, SENTENCES)
        time.sleep(0.05)
        assert not second.done()
        may_finish.set()
        assert len(first.result(10)) == len(second.result(10)) == len(SENTENCES)
    assert (slow.count, quick.count) == (len(SENTENCES), 0)


def test_each_source_has_its_own_folder(tmp_path):
    ParseCache(Counting("one"), tmp_path).parsed(SENTENCES)
    other = Counting("two")
    ParseCache(other, tmp_path).parsed(SENTENCES)
    assert other.count == len(SENTENCES)


@pytest.mark.parametrize("how", ["cut", "flipped", "emptied"])
def test_a_damaged_file_is_detected_and_its_texts_are_parsed_again(tmp_path, caplog, how):
    source = Counting()
    cache = ParseCache(source, tmp_path, group=3)
    expected = parses(cache, SENTENCES)
    path = sorted(tmp_path.rglob("*.safetensors"))[1]
    data = bytearray(path.read_bytes())
    if how == "cut":
        data = data[:-7]
    elif how == "flipped":
        data[-5] ^= 1
    else:
        data = bytearray()
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING):
        assert parses(ParseCache(source, tmp_path), SENTENCES) == expected
    assert says(caplog.text, f"{path} damaged")
    assert len(SENTENCES) < source.count <= len(SENTENCES) + 3


def test_a_damaged_file_may_be_removed_by_another_process(tmp_path, monkeypatch):
    source = Counting()
    cache = ParseCache(source, tmp_path)
    expected = parses(cache, SENTENCES)
    (path,) = tmp_path.rglob("*.safetensors")
    path.write_bytes(b"")
    read = Path.read_bytes

    def read_late(self):
        data = read(self)
        self.unlink()
        return data

    monkeypatch.setattr(Path, "read_bytes", read_late)
    assert parses(ParseCache(source, tmp_path), SENTENCES) == expected


def test_unfinished_files_of_other_processes_are_ignored(tmp_path, caplog):
    source = Counting()
    parses(ParseCache(source, tmp_path), SENTENCES)
    (path,) = tmp_path.rglob("*.safetensors")
    draft = path.with_name(f".{path.stem}.x.safetensors")
    draft.write_bytes(b"half")
    ParseCache(source, tmp_path)
    assert draft.exists()
    assert not caplog.text
    assert path.stat().st_mode & 0o777 == 0o644


def test_without_a_folder_nothing_is_written(tmp_path):
    cache = ParseCache(Counting(), group=2)
    cache.parsed(SENTENCES)
    cache.forget()
    assert not list(tmp_path.rglob("*.safetensors"))
    assert cache.source.count == len(SENTENCES)
    cache.parsed(SENTENCES[:1])
    assert cache.source.count == len(SENTENCES) + 1


def test_a_treebank_is_a_parse_source(tmp_path, ferry):
    path = tmp_path / "ferry.conllu"
    text = " ".join(ferry.sentence.forms)
    path.write_text(format_conllu(TreebankSentence.from_parse(ferry, text=text)))
    source = load_source(f"conllu:{path}")
    assert isinstance(source, TreebankSource)
    (found,) = source.parse_texts([text])
    assert found == [ferry]
    with pytest.raises(InputError, match=naming("ferry.conllu Go!")):
        list(source.parse_texts(["Go!"]))


@pytest.mark.parametrize("name", ["default-pasrer", "spacey:en", "/no/such"])
def test_an_unknown_source_is_rejected(name):
    with pytest.raises(InputError, match=naming(f"{name} default-parser spacy:NAME")):
        load_source(name)


def test_what_the_text_does_not_show_of_words_is_kept(tmp_path):
    texts = ["", "Ah Milas'lı du x", "It rains"]
    turkish = Sentence(("Ah", "Milas'", "lı"), (0, 3, 9), (2, 9, 11), True, ((1, 3),))
    french = Sentence(("de", "le", "x"), (12, 12, 15), (14, 14, 16), multiword=((0, 2),))
    plain = Sentence.from_words(["It", "rains"])
    wanted = [[], [Parse(turkish, (0, 1, 2)), Parse(french, (0, 1, 2))], [Parse(plain, (0, 1))]]
    source = SimpleNamespace(fingerprint="x", parse_texts=lambda texts: iter(wanted))
    for _ in range(2):  # Parsed, then read from disk.
        found = list(CachedSource(ParseCache(source, tmp_path)).parse_texts(texts))
        assert found == wanted
        tokens = [[multiword_tokens(parse) for parse in parses] for parses in found]
        assert tokens == [[], [((1, 3),), ((0, 2),)], [()]]
        source.parse_texts = None


def test_noise_is_added_to_cached_parses(tmp_path, monkeypatch, tiny_parser):
    """The parser parses each text once, however often noise is drawn."""
    monkeypatch.setenv("SYNTAGMA_CACHE", str(tmp_path))
    texts = [*SENTENCES, SENTENCES[0]]
    clean = list(load_source(tiny_parser).parse_texts(texts))
    read = []
    parse_texts = JointParser.parse_texts

    def record_texts(self, texts):
        for text in texts:
            read.append(text)
            yield from parse_texts(self, [text])

    monkeypatch.setattr(JointParser, "parse_texts", record_texts)
    kept_source.cache_clear()
    found = {
        name: list(load_source(f"{name}:{tiny_parser}").parse_texts(texts))
        for name in ("noisy:0", "noisy:1,3", "noisy_tags:0.2")
    }
    kept_source.cache_clear()
    assert sorted(read) == sorted(SENTENCES)

    def heads(parses):
        return [[parse.heads for parse in sentences] for sentences in parses]

    assert heads(found["noisy:0"]) == heads(found["noisy_tags:0.2"]) == heads(clean)
    assert heads(found["noisy:1,3"]) != heads(clean)
    # A new process reads them from disk.
    assert list(load_source(f"noisy:0:{tiny_parser}").parse_texts(texts)) == found["noisy:0"]
    kept_source.cache_clear()
    assert sorted(read) == sorted(SENTENCES)
