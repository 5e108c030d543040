"""The list of messages: what the release's reader goes through."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parent.parent / "release" / "messages.py"
spec = importlib.util.spec_from_file_location("release_messages", PATH)
listing = importlib.util.module_from_spec(spec)
spec.loader.exec_module(listing)

FOUND = [
    one
    for path in sorted(listing.SOURCE.rglob("*.py"))
    for one in listing.messages(path, path.relative_to(listing.SOURCE).as_posix())
]


def test_the_list_has_errors_warnings_and_notes_of_every_room():
    assert {one.sort for one in FOUND} == {"errors", "warnings", "notes"}
    rooms = {one.place.partition("/")[0] for one in FOUND}
    assert {"data", "estimators", "certificates", "selection", "workflows", "play", "cluster"} <= rooms
    said = {one.words for one in FOUND}
    assert "C=… must be positive; inf means no penalty" in said
    assert "--json and the predictions would both go to standard output; say where these go with -o" in said


#: What a user cannot know: programmers' words, numpy's way of writing numbers, shouting.
@pytest.mark.parametrize("word", ["np.float64", "ndarray", "Traceback", "please", "!", "invalid", "illegal", "Oops"])
def test_no_message_has_words_that_say_nothing_to_its_reader(word):
    unfit = [one for one in FOUND if word in one.words and "please report" not in one.words]
    assert unfit == []
