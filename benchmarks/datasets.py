"""The real data sets of the benchmarks: one function each, which takes the folder and returns X and y."""

from __future__ import annotations

import csv
import gzip
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer

from linsep import demo
from linsep.data.idx import load_mnist


@cache
def mnist_3_vs_7(folder: Path) -> tuple[Any, Any]:
    """All 12,396 training images of a 3 or a 7: dense, float64, pixels from 0 to 1."""
    images = demo.mnist(folder)
    return images.X, images.y


@cache
def twenty_newsgroups(folder: Path) -> tuple[Any, Any]:
    """TF-IDF of the 11,314 training posts (CSR, float64), and the group of each, 20 in all."""
    texts, groups = [], []
    with tarfile.open(folder / "20news-bydate.tar.gz") as archive:
        for member in archive:
            parts = Path(member.name).parts  # …/training/<group>/<number>
            if member.isfile() and "train" in parts[-3]:
                texts.append(archive.extractfile(member).read().decode("latin-1"))  # type: ignore[union-attr]
                groups.append(parts[-2])
    return TfidfVectorizer().fit_transform(texts), np.array(groups)


@cache
def twenty_newsgroups_binary(folder: Path) -> tuple[Any, Any]:
    """The same posts: computers and science (1) against the rest (0)."""
    X, groups = twenty_newsgroups(folder)
    technical = np.char.startswith(groups, "comp.") | np.char.startswith(groups, "sci.")
    return X, technical.astype(int)


def mnist_parity(folder: Path) -> tuple[Any, Any]:
    """All 60,000 training images, dense, float64, pixels from 0 to 1: even digits (1) against odd ones (0)."""
    images, digits = load_mnist(folder)
    return images.reshape(len(images), -1) / 255.0, (digits % 2 == 0).astype(int)


def a9a(folder: Path) -> tuple[Any, Any]:
    """Adult, binarised: 32,561 rows of 123 columns (CSR, float64)."""
    return _libsvm(folder / "a9a", columns=123)


def ijcnn1(folder: Path) -> tuple[Any, Any]:
    """The first problem of the IJCNN 2001 challenge: 49,990 rows of 22 columns (CSR, float64), a tenth positive."""
    return _libsvm(folder / "ijcnn1.bz2", columns=22)


def debian_descriptions(folder: Path) -> tuple[Any, Any]:
    """TF-IDF of 63,436 package descriptions (CSR, float64): sections for programmers (1) against the rest (0)."""
    with gzip.open(folder / "debian_packages.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        packages = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    X = TfidfVectorizer().fit_transform(package["description"] for package in packages)
    words = ("lib", "devel", "python", "perl")
    return X, np.array([int(any(word in package["section"] for word in words)) for package in packages])


def covtype(folder: Path) -> tuple[Any, Any]:
    """Forest cover, 581,012 rows of 54 standardised columns (dense, float64): class 2 (1) against the rest (0)."""
    with gzip.open(folder / "covtype.data.gz", "rt") as file:
        values = np.loadtxt(file, delimiter=",")
    return _standardised(values[:, :-1]), (values[:, -1] == 2).astype(int)


def breast_cancer(folder: Path) -> tuple[Any, Any]:
    """scikit-learn's own copy, 569 rows of 30 standardised columns; the folder is not looked at."""
    X, y = load_breast_cancer(return_X_y=True)
    return _standardised(X), y


def _libsvm(path: Path, columns: int) -> tuple[Any, Any]:
    X, y = load_svmlight_file(str(path), n_features=columns)
    # The reader gives 64-bit indices, which some of the peers refuse.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y.astype(int)


def _standardised(X: Any) -> Any:
    return (X - X.mean(axis=0)) / X.std(axis=0)
