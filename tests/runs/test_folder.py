import pytest

from pugnn.errors import PugnnError
from pugnn.files import lock
from pugnn.runs.folder import RunFolder, next_free


def left_by_a_killed_run(path):
    """The partial folder of a run whose process is gone."""
    partial = path.with_name(path.name + ".partial")
    partial.mkdir()
    (partial / "run.lock").touch()
    return partial


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_run_has_its_name_only_when_it_is_complete(tmp_path):
    folder = RunFolder(tmp_path / "mine")
    assert names(tmp_path) == ["mine.partial", "mine.partial/run.lock"]
    (folder.partial / "scores.csv").write_text("id\n")
    folder.checkpoint.write_text("state")
    folder.finish()
    assert names(tmp_path) == ["mine", "mine/scores.csv"], "complete, and without checkpoint and lock"


def test_parents_are_made(tmp_path):
    RunFolder(tmp_path / "a" / "b" / "mine").finish()
    assert names(tmp_path) == ["a", "a/b", "a/b/mine"]


def test_an_existing_folder_is_refused_and_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("1")
    for resume in (False, True):
        with pytest.raises(PugnnError, match=r"mine already exists and is not overwritten\. Choose another --out"):
            RunFolder(tmp_path / "mine", resume=resume)
    assert names(tmp_path) == ["mine", "mine/precious"]


def test_existing_files_and_links_are_refused(tmp_path):
    (tmp_path / "file").write_text("1")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link"):
        with pytest.raises(PugnnError, match="already exists"):
            RunFolder(tmp_path / name)
    assert names(tmp_path) == ["file", "link"]


def test_the_folder_itself_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (".", "..", "/"):
        with pytest.raises(PugnnError, match="already exists"):
            RunFolder(tmp_path.__class__(name))
    assert names(tmp_path) == []


def test_a_stopped_run_is_not_started_anew(tmp_path):
    (left_by_a_killed_run(tmp_path / "mine") / "checkpoint.safetensors").write_text("state")
    with pytest.raises(PugnnError, match=r"mine.partial holds a run that was stopped. Add --resume"):
        RunFolder(tmp_path / "mine")
    assert names(tmp_path) == ["mine.partial", "mine.partial/checkpoint.safetensors", "mine.partial/run.lock"]
    assert RunFolder(tmp_path / "mine", resume=True).checkpoint.read_text() == "state"


def test_a_run_stopped_before_its_first_checkpoint_can_be_resumed(tmp_path):
    left_by_a_killed_run(tmp_path / "mine")
    with pytest.raises(PugnnError, match="Add --resume"):
        RunFolder(tmp_path / "mine")
    RunFolder(tmp_path / "mine", resume=True).finish()
    assert names(tmp_path) == ["mine"]


def test_nothing_to_resume(tmp_path):
    with pytest.raises(PugnnError, match=r"nothing to resume: .*mine.partial does not exist\. Run without --resume"):
        RunFolder(tmp_path / "mine", resume=True)
    assert names(tmp_path) == []


def test_what_a_killed_run_was_writing_is_cleared_away(tmp_path):
    partial = left_by_a_killed_run(tmp_path / "mine")
    (partial / "checkpoint.safetensors").write_text("state")
    (partial / ".checkpoint.safetensors.0123456789abcdef.unfinished.safetensors").write_text("half a sta")
    (partial / ".env.local").write_text("a file of the user's")
    (partial / ".x.y").mkdir()
    RunFolder(tmp_path / "mine", resume=True).finish()
    assert names(tmp_path) == ["mine", "mine/.env.local", "mine/.x.y"]


def test_a_run_of_version_0_3_goes_on(tmp_path):
    (tmp_path / "mine.partial").mkdir()
    (tmp_path / "mine.partial" / "checkpoint.safetensors").write_text("state")
    RunFolder(tmp_path / "mine", resume=True).abandon()
    assert names(tmp_path) == ["mine.partial", "mine.partial/checkpoint.safetensors"]


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_that_is_no_run_is_refused_and_left_alone(tmp_path, resume):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / ".thesis.txt").write_text("1")
    (tmp_path / "theirs" / "run.lock").touch()
    (tmp_path / "link.partial").symlink_to(tmp_path / "theirs")
    (tmp_path / "file.partial").write_text("1")
    (tmp_path / "mine.partial").mkdir()
    (tmp_path / "mine.partial" / ".env.local").write_text("1")
    before = names(tmp_path)
    for name in ("mine", "link", "file"):
        with pytest.raises(PugnnError, match=f"{name}.partial is in the way: it is not a run that was stopped"):
            RunFolder(tmp_path / name, resume=resume)
    assert names(tmp_path) == before


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_that_another_process_fills_is_refused(tmp_path, resume):
    first = RunFolder(tmp_path / "mine")
    first.checkpoint.write_text("state")
    with pytest.raises(PugnnError, match=r"mine.partial is being filled by another process"):
        RunFolder(tmp_path / "mine", resume=resume)
    first.finish()
    assert names(tmp_path) == ["mine"]


def test_a_run_that_another_process_finishes_at_this_moment_is_refused(tmp_path, monkeypatch):
    partial = left_by_a_killed_run(tmp_path / "mine")

    def lock_too_late(*opened):
        partial.rename(tmp_path / "mine")
        return lock(*opened)

    monkeypatch.setattr("pugnn.runs.folder.lock", lock_too_late)
    with pytest.raises(PugnnError, match="another process"):
        RunFolder(tmp_path / "mine", resume=True)
    assert names(tmp_path) == ["mine", "mine/run.lock"]


def test_abandon_removes_all_that_was_made(tmp_path):
    folder = RunFolder(tmp_path / "a" / "b" / "mine")
    (folder.partial / "scores.csv").write_text("id\n")
    folder.abandon()
    assert names(tmp_path) == []


def test_abandon_leaves_what_others_made(tmp_path):
    (tmp_path / "a").mkdir()
    folder = RunFolder(tmp_path / "a" / "b" / "mine")
    (tmp_path / "a" / "b" / "theirs").write_text("1")
    folder.abandon()
    assert names(tmp_path) == ["a", "a/b", "a/b/theirs"]


def test_abandon_keeps_a_checkpoint(tmp_path):
    folder = RunFolder(tmp_path / "mine")
    folder.checkpoint.write_text("state")
    folder.abandon()
    assert names(tmp_path) == ["mine.partial", "mine.partial/checkpoint.safetensors"]


def test_abandon_keeps_a_folder_that_was_there_before(tmp_path):
    (left_by_a_killed_run(tmp_path / "mine") / "notes").write_text("1")
    RunFolder(tmp_path / "mine", resume=True).abandon()
    assert names(tmp_path) == ["mine.partial", "mine.partial/notes", "mine.partial/run.lock"]


def test_a_complete_run_survives_a_name_that_was_taken_meanwhile(tmp_path):
    folder = RunFolder(tmp_path / "mine")
    (folder.partial / "scores.csv").write_text("id\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").write_text("1")
    with pytest.raises(PugnnError, match=r"cannot rename .*mine.partial .* stays where it is"):
        folder.finish()
    folder.abandon()
    assert names(tmp_path) == ["mine", "mine.partial", "mine.partial/scores.csv", "mine/precious"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("1")
    for path in (tmp_path / "file" / "mine", tmp_path / "new" / ("x" * 300)):
        with pytest.raises(PugnnError, match="cannot make the folder"):
            RunFolder(path)
    assert names(tmp_path) == ["file"]


def test_next_free(tmp_path):
    assert next_free(tmp_path, "demo") == tmp_path / "demo-1"
    (tmp_path / "demo-1").mkdir()
    (tmp_path / "demo-2.partial").mkdir()
    (tmp_path / "demo-4").mkdir()
    (tmp_path / "other-3").mkdir()
    assert next_free(tmp_path, "demo") == tmp_path / "demo-3"
    assert next_free(tmp_path / "not there", "demo") == tmp_path / "not there" / "demo-1"
    assert next_free(tmp_path, "demo", first=3, suffix=".csv") == tmp_path / "demo-3.csv"


def test_a_folder_that_lost_files_does_not_get_its_name(tmp_path):
    folder = RunFolder(tmp_path / "mine")
    (folder.partial / "a").touch()
    with pytest.raises(PugnnError, match=r"mine\.partial was changed meanwhile: 'b' went missing"):
        folder.finish(["a", "b"])
    assert not (tmp_path / "mine").exists()
    (folder.partial / "b").touch()
    folder.finish(["a", "b"])
    assert (tmp_path / "mine" / "b").exists()
