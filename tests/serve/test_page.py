"""The files of the pages, as they are served."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from syntagma.serve.pages import PAGES, STATIC

SERVED = [*PAGES, *(f"/static/{name}" for name in STATIC), "/static/house.css"]
SVG_NAMESPACE = "http://www.w3.org/2000/svg"  # a name, which nothing loads


@pytest.mark.parametrize("path", SERVED)
def test_files_have_their_type_and_the_policy(client, path):
    response = client.get(path)
    assert response.status_code == 200
    ending = path.rpartition(".")[2] if "." in path else "html"
    kind = {"html": "text/html", "css": "text/css", "js": "text/javascript"}[ending]
    assert response.headers["content-type"] == f"{kind}; charset=utf-8"
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", SERVED)
def test_files_name_no_other_site_and_put_text_in_as_text(client, path):
    text = client.get(path).text.replace(SVG_NAMESPACE, "")
    assert not re.search(r"\w+://|[\"'(]//\w", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)


@pytest.mark.parametrize("path", PAGES)
def test_pages_have_no_script_or_style_of_their_own(client, path):
    page = client.get(path).text
    assert "<style" not in page
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)
    assert not re.search(r"\s(style|on\w+)=", page)


def test_all_that_files_load_is_served(client):
    loaded = set()
    for path in SERVED:
        text = client.get(path).text
        loaded.update(re.findall(r'(?:src|href)="(/[^"#]*)"', text))
        loaded.update(f"/static/{name}" for name in re.findall(r'from "\./([^"]+)"', text))
    assert "/static/passage.js" in loaded
    for path in loaded:
        assert client.get(path).status_code == 200, path
    assert {path for path in SERVED if path.startswith("/static/")} <= loaded


def test_every_file_of_the_folder_is_served():
    folder = resources.files("syntagma.serve") / "static"
    assert {file.name for file in folder.iterdir()} == {*PAGES.values(), *STATIC}


@pytest.mark.parametrize("path", ["/static/", "/static/..%2Fapp.py", "/static/app.py", "/redoc"])
def test_no_other_file_is_served(client, path):
    assert client.get(path).status_code == 404
