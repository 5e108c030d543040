"""What the fuzzer found something with: every file of the corpus is read, or refused with an error for users."""

import warnings
from pathlib import Path

import pytest

from linsep.data.readers import read

CORPUS = sorted(Path(__file__).with_name("corpus").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_a_file_that_once_broke_a_reader_is_refused_in_words(path):
    pytest.importorskip("python_calamine")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, OSError), match=path.name):
            read(path)
