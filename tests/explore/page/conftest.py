"""A browser for the page of the case room; whatever it complains of fails the test."""

import os
import shutil

import pytest

from fake_room import Room, Server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Without software WebGL a canvas stays blank, and nothing says so.
FLAGS = (
    "--headless --no-sandbox --disable-gpu --enable-unsafe-swiftshader --disable-background-networking --no-first-run"
)
SIZES = {"laptop": {"width": 1280, "height": 800}, "phone": {"width": 360, "height": 740}}


@pytest.fixture(scope="module")  # while Playwright runs, nothing else in this process can have an event loop
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("no Chromium on the path")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with pytest.MonkeyPatch.context() as patch:
        if not os.path.isdir(os.path.expanduser("~")):  # Playwright and Chromium need some home folder
            patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        with playwright.sync_playwright() as started:
            chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
            yield chromium
            chromium.close()


@pytest.fixture
def served():
    """Serve a fake room."""
    servers = []

    def serve(room=None, **options):
        servers.append(Server(room or Room(**options)))
        return servers[-1]

    yield serve
    for server in servers:
        server.stop()


@pytest.fixture
def opened(browser):
    """Open an address of a room; errors in the console, pop-ups and requests elsewhere fail the test at the end."""
    troubles, contexts = [], []

    def complain(message):
        # A refusal and a server that is gone are what some tests are about.
        if message.type == "error" and "Failed to load resource" not in message.text:
            troubles.append(message.text)

    def open_room(url, route="", *, size="laptop", scheme="light", **options):
        context = browser.new_context(viewport=SIZES[size], color_scheme=scheme, **options)
        contexts.append(context)
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("console", complain)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: None if request.url.startswith(url) else troubles.append(request.url))
        page.goto(url + route)
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield open_room
    for context in contexts:
        context.close()
    assert not troubles
