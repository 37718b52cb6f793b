"""The case room in a notebook, with a server in a process of its own."""

import re
import sys
from types import SimpleNamespace

import pytest

from pugnn.errors import PugnnError
from pugnn.runs import notebook


@pytest.fixture
def _stub(monkeypatch):
    """A server that only says where it is, and ends when it is told to."""
    code = """
import json, sys, time
print(json.dumps({"url": "http://127.0.0.1:1/<token>/"}), flush=True)
try:
    time.sleep(60)
except KeyboardInterrupt:
    pass
"""
    popen = notebook.subprocess.Popen
    monkeypatch.setattr(notebook.subprocess, "Popen", lambda _, **how: popen([sys.executable, "-c", code], **how))


@pytest.mark.usefixtures("_stub")
def test_a_frame_of_the_page_until_it_is_closed(tmp_path):
    opened = notebook.explore(tmp_path)
    assert opened.url == "http://127.0.0.1:1/<token>/"
    shown = opened._repr_html_()
    assert re.search('<iframe src="http://127.0.0.1:1/&lt;token&gt;/"', shown)
    assert "<token>" not in shown
    assert opened.url in repr(opened)
    process = opened._process
    opened.close()
    assert process.poll() is not None
    opened.close()  # once more is no mistake
    assert "closed" in opened._repr_html_()
    assert "closed" in repr(opened)


@pytest.mark.usefixtures("_stub")
def test_the_package_is_the_function():
    """Whichever was imported first."""
    import pugnn.explore

    opened = pugnn.explore(".", read_only=True)
    assert isinstance(opened, notebook.Explorer)
    opened.close()
    assert pugnn.runs.notebook.explore is notebook.explore


def test_what_the_server_says_against_it_is_the_error(tmp_path):
    with pytest.raises(PugnnError, match="is not a run folder"):
        notebook.explore(tmp_path)
    with pytest.raises(PugnnError, match="name of a file or folder"):
        notebook.explore(SimpleNamespace())
