import pyarrow as pa
import pytest

from pugnn.io.formats.zstd import is_whole

TEXT = "".join(f"x{i},y{i * 7919 % 1000003}\n" for i in range(20_000)).encode()


def packed(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content))


@pytest.mark.parametrize("content", [packed(TEXT), packed(TEXT) * 2, packed(b""), packed(b"a" * 1_000_000)])
def test_whole_files_and_all_that_were_cut(tmp_path, content):
    path = tmp_path / "file.zst"
    path.write_bytes(content)
    assert is_whole(path)
    frames = {len(content), len(content) // 2} if content == packed(TEXT) * 2 else {len(content)}
    for length in {*range(1, len(content), max(1, len(content) // 200)), len(content) - 1} - frames:
        path.write_bytes(content[:length])
        assert not is_whole(path)


def test_a_skippable_frame_and_what_is_no_frame(tmp_path):
    path = tmp_path / "file.zst"
    path.write_bytes(b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + packed(TEXT))
    assert is_whole(path)
    path.write_bytes(packed(TEXT) + b"garbage")
    assert not is_whole(path)
