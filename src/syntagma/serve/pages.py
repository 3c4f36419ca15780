"""The pages of the server, from files of the package: nothing in them comes from elsewhere.

``PAGES`` says which file is at which path, and ``STATIC`` what the pages load.
"""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

from fastapi import APIRouter
from fastapi.responses import Response

PAGES = {"/": "index.html", "/docs": "docs.html"}
"""The file of each page."""
STATIC = (
    "docs.css",
    "docs.js",
    "page.css",
    "page.js",
    "answer_card.js",
    "api.js",
    "ask.js",
    "dom.js",
    "examples.js",
    "files.js",
    "parse.js",
    "passage.js",
    "questions.js",
    "trees.js",
    "words.js",
)
"""What pages load, below ``/static/``."""
HOUSE_STYLE = ("syntagma.report", "page.css")
"""Package and file of the colours and type that all pages share; at ``/static/house.css``."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}


def make_pages() -> APIRouter:
    """Return the routes of the pages; files are read once, and no path is made from a request."""
    router = APIRouter(include_in_schema=False)
    folder = resources.files(__package__) / "static"
    for path, name in PAGES.items():
        _add_file(router, path, folder / name)
    for name in STATIC:
        _add_file(router, f"/static/{name}", folder / name)
    package, name = HOUSE_STYLE
    _add_file(router, "/static/house.css", resources.files(package) / name)
    return router


def _add_file(router: APIRouter, path: str, file: Traversable) -> None:
    content = file.read_bytes()
    media_type = _TYPES[file.name.rpartition(".")[2]]

    @router.get(path)
    async def send() -> Response:
        headers = {"Content-Security-Policy": POLICY}
        return Response(content, media_type=media_type, headers=headers)
