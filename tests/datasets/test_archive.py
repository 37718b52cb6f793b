import io

import numpy as np
import pytest

from archives import archive_bytes, change_a_byte, path_graph, truncate
from pugnn.datasets import read_archive
from pugnn.errors import PugnnError

WHOLE = archive_bytes(path_graph())


def npz(*absent: str, **changed) -> bytes:
    """The path graph's file with arrays left out or changed, as numpy itself writes it."""
    with np.load(io.BytesIO(WHOLE)) as file:
        arrays = {key: file[key] for key in file.files if key not in absent}
    buffer = io.BytesIO()
    np.savez(buffer, **{**arrays, **changed})
    return buffer.getvalue()


def test_no_checksum_is_asked_of_files_from_elsewhere(tmp_path):
    (tmp_path / "a.npz").write_bytes(npz("ids", "class_names", "missing_nodes"))
    archive = read_archive(tmp_path / "a.npz")
    assert (archive.ids, archive.class_names, len(archive.missing_nodes)) == (None, None, 0)
    assert (len(archive.y), archive.edge_index.shape, archive.x.shape) == (4, (2, 3), (4, 4))


def test_class_names_cannot_steer_a_terminal(tmp_path):
    names = np.asarray(["\x1b]0;title\x07even", "odd\x9b31m"])
    (tmp_path / "a.npz").write_bytes(npz(class_names=names))
    assert read_archive(tmp_path / "a.npz").class_names == ("�]0;title�even", "odd�31m")


BROKEN = {
    "empty": (b"", "not a zip file"),
    "no zip": (b"something else entirely", "not a zip file"),
    "truncated": (truncate(WHOLE), "not a zip file"),
    "a changed byte": (change_a_byte(WHOLE), "cannot read"),
    "missing keys": (npz("y", "x_data"), "y is not a file in the archive"),
    "an object array": (npz(y=np.asarray([{}, 1, 2, 3], dtype=object)), "allow_pickle"),
    "an edge too far": (npz(edge_index=np.asarray([[0], [4]])), "edge_index names a node outside 0 to 3"),
    "a flat edge_index": (npz(edge_index=np.asarray([0, 1])), "shapes disagree"),
    "fractional edges": (npz(edge_index=np.asarray([[0.5], [1]])), "edge_index names a node"),
    "too few labels": (npz(y=np.asarray([0, 1])), "shapes disagree"),
    "too few ids": (npz(ids=np.asarray([0, 1])), "shapes disagree"),
    "a negative label": (npz(y=np.asarray([0, 1, 1, -1])), "class index"),
    "ids that stand twice": (npz(ids=np.array([1, 2, 2, 3])), "node ids must be unique; these appear .* 2"),
    "too few class names": (npz(class_names=np.asarray(["even"])), "1 class names for 2 classes"),
    "a column too far": (npz(x_indices=np.full(4, 9, dtype=np.int32)), "do not fit together"),
    "a column below 0": (npz(x_indices=np.full(4, -9, dtype=np.int32)), "do not fit together"),
    "a row too far": (npz(x_indptr=np.array([0, 10**6, 2, 3, 4])), "do not fit together"),
    "fractional columns": (npz(x_indices=np.full(4, 0.5)), "x_indices must be integers"),
    "a class too far": (npz(y=np.asarray([0, 1, 1, 10**12])), "class index"),
    "an infinite feature": (npz(x_data=np.full(4, np.inf, dtype=np.float32)), "not finite"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_gets_one_clear_message(case, tmp_path):
    content, reason = BROKEN[case]
    path = tmp_path / "mine.npz"
    path.write_bytes(content)
    with pytest.raises(PugnnError, match=reason) as caught:
        read_archive(path)
    assert str(path) in str(caught.value)
    assert "Replace it with an intact copy" in str(caught.value)
