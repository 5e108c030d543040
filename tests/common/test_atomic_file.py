"""Files are written whole or not at all: whatever happens, the old content or the new is there, and nothing else."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from linsep._common import atomic_file
from linsep._common.atomic_file import _unnamed, check_target, write_atomically

SIZE = 4_000_000

# A child that kills itself in the middle of writing: before anything, half way, before and after the new name.
SUICIDE = """
import os, signal, sys
from linsep._common import atomic_file
stage, path, size = sys.argv[1:]
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
class Half:
    def __init__(self, file): self.file = file
    def __enter__(self): return self
    def __exit__(self, *args): self.file.close()
    def write(self, content):
        self.file.write(content[: len(content) // 2]); self.file.flush(); die()
fdopen, replace = os.fdopen, os.replace
if stage == "opened": os.fdopen = die
if stage == "half written": os.fdopen = lambda fd, mode: Half(fdopen(fd, mode))
if stage == "written": os.fsync = die
if stage == "synced": os.replace = die
if stage == "replaced": atomic_file._sync_folder = die
atomic_file.write_atomically(path, b"n" * int(size))
"""


@pytest.mark.parametrize("stage", ["opened", "half written", "written", "synced", "replaced"])
def test_a_kill_at_any_stage_leaves_the_old_file_or_the_new_one(tmp_path, stage):
    path = tmp_path / "model.json"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", SUICIDE, stage, str(path), str(SIZE)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == (b"n" * SIZE if stage == "replaced" else b"old")
    unnamed = _unnamed(tmp_path)
    if unnamed is not None and stage != "synced":  # where files without a name can be, nothing is left of them
        os.close(unnamed)
        assert os.listdir(tmp_path) == ["model.json"]


def test_a_kill_at_a_random_moment_leaves_a_whole_file(tmp_path):
    path = tmp_path / "model.json"
    endless = (
        "import sys\nfrom linsep._common.atomic_file import write_atomically\n"
        f"while True:\n    for letter in (b'a', b'b'):\n        write_atomically(sys.argv[1], letter * {SIZE})\n"
    )
    for pause in (0.0, 0.01, 0.035):
        path.unlink(missing_ok=True)
        child = subprocess.Popen([sys.executable, "-c", endless, str(path)])
        while not path.exists() and child.poll() is None:
            time.sleep(0.005)
        time.sleep(pause)
        child.kill()
        child.wait()
        assert path.read_bytes() in (b"a" * SIZE, b"b" * SIZE)


def test_a_full_disk_leaves_the_old_file_and_nothing_half_written(tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(b"old")
    program = (
        "import resource, sys\nfrom linsep._common.atomic_file import write_atomically\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        f"try:\n    write_atomically(sys.argv[1], b'n' * {SIZE})\n"
        "except OSError as error:\n    print(error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(27)  # EFBIG: no room for this file
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.json"]


def test_what_cannot_be_written_is_said_before_the_work(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"x")
    (tmp_path / "link.csv").symlink_to(path)
    check_target(path)
    check_target(tmp_path / "new.csv", path, "-", None)
    for target, words in ((tmp_path, "folder"), (tmp_path / "no" / "m.json", "no such folder"), (path, "overwrite")):
        with pytest.raises(ValueError, match=words):
            check_target(target, tmp_path / "link.csv")


def test_a_disk_without_room_is_an_error():
    with pytest.raises(OSError, match="No space left"):
        write_atomically("/dev/full", b"content")


def test_a_read_only_folder_is_an_error_and_stays_as_it_is():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.json").write_bytes(b"old")
        folder.chmod(0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)  # nothing is read-only for root
        try:
            with pytest.raises(PermissionError):
                write_atomically(folder / "model.json", b"new")
        finally:
            os.seteuid(user)
            folder.chmod(0o755)
        assert (folder / "model.json").read_bytes() == b"old"
        assert os.listdir(folder) == ["model.json"]


def test_a_folder_that_is_not_there_and_a_folder_as_a_file_are_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "model.json", b"new")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_atomically(tmp_path, b"new")


def test_permissions_are_kept_and_links_are_followed(tmp_path):
    path, link = tmp_path / "model.json", tmp_path / "link.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    write_atomically(tmp_path / "new", b"new")
    assert (tmp_path / "new").stat().st_mode == plain.stat().st_mode


def test_where_no_file_can_be_without_a_name_or_get_one_later_it_is_written_all_the_same(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError("not here")

    for where, function in ((os, "link"), (atomic_file, "_unnamed")):
        with monkeypatch.context() as patch:
            patch.setattr(where, function, refuse if function == "link" else lambda folder: None)
            write_atomically(tmp_path / "model.json", function.encode())
        assert (tmp_path / "model.json").read_bytes() == function.encode()
        assert os.listdir(tmp_path) == ["model.json"]


def test_a_failure_on_the_way_removes_the_temporary_file(tmp_path, monkeypatch):
    def fail(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "model.json", b"new")
    assert os.listdir(tmp_path) == []
