"""Two fits in blocks that write the same model: the second is told of the first, unless that is dead."""

import os
import signal
from contextlib import contextmanager

import pytest

from linsep.data.sources import DataError
from linsep.workflows.unfinished import LOCK, Unfinished

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="takes a process that shares what is loaded")

RUN = {"linsep": "1", "data": {}, "settings": {}}


def begun(tmp_path, run=RUN, resume=True):
    return Unfinished(tmp_path / "m.json", None, run, resume=resume)


@pytest.fixture
def other(tmp_path):
    """Another process that is fitting."""
    hears, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            kept = begun(tmp_path)
            kept.prepare({"rows": 3})
            os.write(told, b"x")
            signal.pause()
        finally:
            os._exit(1)
    os.read(hears, 1)
    yield pid
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


@pytest.mark.parametrize("resume", [True, False])
def test_the_second_is_told_who_is_fitting_and_harms_nothing(tmp_path, other, resume):
    with pytest.raises(DataError, match=rf"m\.json\.partial: process {other} of .* is fitting there; wait"):
        begun(tmp_path, resume=resume)
    assert (tmp_path / "m.json.partial" / "prepared.json").exists()


def test_a_fit_that_died_is_gone_on_with(tmp_path):
    pid = os.fork()
    if pid == 0:
        try:
            begun(tmp_path).prepare({"rows": 3})
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    os.waitpid(pid, 0)
    again = begun(tmp_path)
    assert again.resumed
    assert again.prepared == {"rows": 3}
    again.remove()
    assert not again.folder.exists()


@contextmanager
def no_room():
    """No file may have any content."""
    resource = pytest.importorskip("resource", reason="limits of a process as POSIX has them")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_fit_that_has_no_room_for_its_lock_leaves_nothing_behind_and_loses_nothing(tmp_path):
    with pytest.raises(DataError, match=r"m\.json\.partial: a file may not grow that large here"), no_room():
        begun(tmp_path)
    assert not list(tmp_path.iterdir())
    first = begun(tmp_path)
    first.prepare({"rows": 3})
    first.release()
    with pytest.raises(DataError, match="a file may not grow"), no_room():
        begun(tmp_path)
    again = begun(tmp_path)
    assert again.prepared == {"rows": 3}
    again.remove()


def test_what_is_removed_or_released_is_free(tmp_path):
    first = begun(tmp_path)
    first.release()
    second = begun(tmp_path)
    with pytest.raises(DataError, match=f"process {os.getpid()}"):
        begun(tmp_path)
    second.remove()
    begun(tmp_path).remove()


def test_an_unfinished_fit_of_other_settings_is_not_held_by_whom_it_refuses(tmp_path):
    begun(tmp_path).release()
    for _ in range(2):
        with pytest.raises(DataError, match="an unfinished fit of another version"):
            begun(tmp_path, run=RUN | {"linsep": "2"})
    begun(tmp_path).remove()


def test_a_folder_that_no_fit_made_is_left_alone(tmp_path):
    (tmp_path / "m.json.partial").mkdir()
    (tmp_path / "m.json.partial" / "mine").write_text("x")
    with pytest.raises(DataError, match="no fit made it"):
        begun(tmp_path)
    assert not (tmp_path / "m.json.partial" / LOCK).exists()


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"reference": []}, {"reference": ["town=Ulm"]}, "--reference was not given and is now town=Ulm"),
        (
            {"reference": ["town=Bad Ems", "kind=a"]},
            {"reference": ["kind=a"]},
            "--reference was 'town=Bad Ems' kind=a and is now kind=a",
        ),
        ({"target": "churned"}, {"target": "-1"}, "--target was churned and is now -1"),
        ({"scaled": True}, {"scaled": False}, "numbers were standardised, or taken as they are"),
        ({"intercept": False}, {"intercept": True}, "the plane had an offset, or went through the origin"),
    ],
)
def test_settings_that_differ_are_told_as_they_are_typed(tmp_path, before, now, said):
    kept = begun(tmp_path, RUN | {"settings": before})
    kept.prepare({"rows": 3})
    kept.release()
    with pytest.raises(DataError) as told:
        begun(tmp_path, RUN | {"settings": now})
    assert said in str(told.value)
