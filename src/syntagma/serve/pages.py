"""The pages of the server, from files of the package: nothing in them comes from elsewhere.

``PAGES`` says which file is at which path; a page for readers at ``/`` goes there.
"""

from __future__ import annotations

from importlib import resources

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

PAGES = {"/docs": "docs.html"}
"""The file of each page."""
STATIC = ("docs.css", "docs.js")
"""What pages load, below ``/static/``."""
FIRST = "/docs"
"""Where ``/`` leads as long as no page is there."""
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
    for path, name in PAGES.items():
        _add_file(router, path, name)
    for name in STATIC:
        _add_file(router, f"/static/{name}", name)
    if "/" not in PAGES:

        @router.get("/")
        async def home() -> Response:
            return RedirectResponse(FIRST)

    return router


def _add_file(router: APIRouter, path: str, name: str) -> None:
    content = (resources.files(__package__) / "static" / name).read_bytes()
    media_type = _TYPES[name.rpartition(".")[2]]

    @router.get(path)
    async def file() -> Response:
        headers = {"Content-Security-Policy": POLICY}
        return Response(content, media_type=media_type, headers=headers)
