"""The real data sets of the benchmarks: one function each, which takes the folder and returns X and y."""

from __future__ import annotations

import csv
import gzip
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_svmlight_file,
    load_wine,
    make_classification,
)
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

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
    texts, groups = _posts(folder)
    return TfidfVectorizer().fit_transform(texts), groups


def _posts(folder: Path) -> tuple[Any, Any]:
    texts, groups = [], []
    with tarfile.open(folder / "20news-bydate.tar.gz") as archive:
        for member in archive:
            parts = Path(member.name).parts  # …/training/<group>/<number>
            if member.isfile() and "train" in parts[-3]:
                texts.append(archive.extractfile(member).read().decode("latin-1"))  # type: ignore[union-attr]
                groups.append(parts[-2])
    return np.array(texts, dtype=object), np.array(groups)


@cache
def twenty_newsgroups_binary(folder: Path) -> tuple[Any, Any]:
    """The same posts: computers and science (1) against the rest (0)."""
    X, groups = twenty_newsgroups(folder)
    technical = np.char.startswith(groups, "comp.") | np.char.startswith(groups, "sci.")
    return X, technical.astype(int)


def mnist(folder: Path) -> tuple[Any, Any]:
    """All 60,000 training images, dense, float64, pixels from 0 to 1, and the digit of each."""
    images, digits = load_mnist(folder)
    return images.reshape(len(images), -1) / 255.0, digits


def mnist_parity(folder: Path) -> tuple[Any, Any]:
    """The same images: even digits (1) against odd ones (0)."""
    X, digits = mnist(folder)
    return X, (digits % 2 == 0).astype(int)


def a9a(folder: Path) -> tuple[Any, Any]:
    """Adult, binarised: 32,561 rows of 123 columns (CSR, float64)."""
    return _libsvm(folder / "a9a", columns=123)


def ijcnn1(folder: Path) -> tuple[Any, Any]:
    """The first problem of the IJCNN 2001 challenge: 49,990 rows of 22 columns (CSR, float64), a tenth positive."""
    return _libsvm(folder / "ijcnn1.bz2", columns=22)


def debian_sections(folder: Path) -> tuple[Any, Any]:
    """TF-IDF of 63,436 package descriptions (CSR, float64), and the section of each, 58 in all."""
    texts, sections = _packages(folder)
    return TfidfVectorizer().fit_transform(texts), sections


def _packages(folder: Path) -> tuple[Any, Any]:
    with gzip.open(folder / "debian_packages.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        packages = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = np.array([package["description"] for package in packages], dtype=object)
    return texts, np.array([package["section"].rpartition("/")[2] for package in packages])


def debian_descriptions(folder: Path) -> tuple[Any, Any]:
    """The same descriptions: sections for programmers (1) against the rest (0)."""
    X, sections = debian_sections(folder)
    words = ("lib", "devel", "python", "perl")
    return X, np.array([int(any(word in section for word in words)) for section in sections])


def rare_packages(folder: Path) -> tuple[Any, Any]:
    """TF-IDF of 7,770 of the descriptions (CSR, float64), about 40 words in each: 7 % are documentation (1)."""
    texts, sections = _packages(folder)
    some = np.random.default_rng(0).permutation(len(texts))[:7_770]
    return TfidfVectorizer(min_df=3).fit_transform(texts[some]), (sections[some] == "doc").astype(int)


def posts(folder: Path) -> tuple[Any, Any]:
    """TF-IDF of 4,926 posts, as long as mails, by their 22,201 most frequent words (CSR, float64): rec.* (1)."""
    texts, groups = _posts(folder)
    some = np.flatnonzero([group.startswith(("rec.", "talk.", "misc.")) for group in groups])
    X = TfidfVectorizer(max_features=22_201).fit_transform(texts[some])
    return X, np.char.startswith(groups[some], "rec.").astype(int)


def made_sentences(folder: Path) -> tuple[Any, Any]:
    """TF-IDF of 10,662 made texts, about 16 words of 10,018 in each: as `made_reviews`, but short."""
    return made_reviews(folder, 10_662, 10_018, 17, 0.5, 3)


def made_reviews(
    folder: Path, rows: int = 25_000, words: int = 45_000, length: float = 141.0, spread: float = 0.6, least: int = 20
) -> tuple[Any, Any]:
    """TF-IDF of 25,000 made texts, about 137 words of 45,000 in each (CSR, float64); the folder is not looked at.

    They stand in for long reviews: words as frequent as Zipf's law says, texts of many lengths, and in each an opinion,
    strong or weak, that makes some words likelier and others less; one label in fifteen is wrong.
    """
    rng = np.random.default_rng(0)
    common = 1.0 / (np.arange(words) + 2.7)
    leaning = np.where(np.arange(words) < 40, 0.0, 0.35 * rng.laplace(size=words))
    lengths = np.maximum(least, rng.lognormal(np.log(length), spread, size=rows)).astype(int)
    opinion = np.round(rng.normal(size=rows), 1).clip(-2.5, 2.5)
    counted = []
    for strength in np.unique(opinion):
        own = np.flatnonzero(opinion == strength)
        share = np.cumsum(common * np.exp(strength * leaning))
        drawn = np.searchsorted(share, share[-1] * rng.random(lengths[own].sum()))
        place = np.repeat(own, lengths[own]), np.minimum(drawn, words - 1)
        counted.append(csr_matrix((np.ones(len(drawn)), place), shape=(rows, words)))
    counts = sum(counted[1:], counted[0])
    wrong = rng.random(rows) < 1 / 15
    return TfidfTransformer().fit_transform(counts), ((opinion > 0) ^ wrong).astype(int)


def sms(folder: Path) -> tuple[Any, Any]:
    """TF-IDF of 5,574 short messages (CSR, float64): spam (1) or not (0)."""
    lines = (folder / "SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return TfidfVectorizer().fit_transform(texts), (np.array(labels) == "spam").astype(int)


def w8a(folder: Path) -> tuple[Any, Any]:
    """Web pages, 49,749 rows of 300 columns, about 12 of them set (CSR, float64): 3 % positive."""
    return _libsvm(folder / "w8a", columns=300)


def madelon(folder: Path) -> tuple[Any, Any]:
    """Made data, 2,000 rows of 500 standardised columns (dense, float64), nearly all of them noise."""
    X, y = _libsvm(folder / "madelon_scale.bz2", columns=500)
    return _standardised(X.toarray()), y


def spambase(folder: Path) -> tuple[Any, Any]:
    """Mails, 4,601 rows of 57 standardised columns (dense, float64): spam (1) or not (0)."""
    values = np.loadtxt(folder / "spambase.data", delimiter=",")
    return _standardised(values[:, :-1]), values[:, -1].astype(int)


def covtype(folder: Path) -> tuple[Any, Any]:
    """Forest cover, 581,012 rows of 54 standardised columns (dense, float64): class 2 (1) against the rest (0)."""
    X, cover = _covtype(folder)
    return _standardised(X), (cover == 2).astype(int)


def covtype_classes(folder: Path) -> tuple[Any, Any]:
    """100,000 rows of the same, drawn at random, and the cover of each, 7 in all."""
    X, cover = _covtype(folder)
    chosen = np.random.default_rng(0).permutation(len(X))[:100_000]
    return _standardised(X[chosen]), cover[chosen]


def _covtype(folder: Path) -> tuple[Any, Any]:
    with gzip.open(folder / "covtype.data.gz", "rt") as file:
        values = np.loadtxt(file, delimiter=",")
    return values[:, :-1], values[:, -1].astype(int)


def iris(folder: Path) -> tuple[Any, Any]:
    """scikit-learn's own copy, 150 rows of 4 standardised columns, 3 classes; the folder is not looked at."""
    X, y = load_iris(return_X_y=True)
    return _standardised(X), y


def wine(folder: Path) -> tuple[Any, Any]:
    """scikit-learn's own copy, 178 rows of 13 standardised columns, 3 classes."""
    X, y = load_wine(return_X_y=True)
    return _standardised(X), y


def digits(folder: Path) -> tuple[Any, Any]:
    """scikit-learn's own copy, 1,797 rows of 64 standardised columns, 10 classes."""
    X, y = load_digits(return_X_y=True)
    return _standardised(X), y


def five_classes(folder: Path) -> tuple[Any, Any]:
    """20,000 made rows of 40 standardised columns, half of which inform, 5 classes."""
    X, y = make_classification(20_000, 40, n_informative=20, n_classes=5, random_state=0)
    return _standardised(X), y


def uneven_classes(folder: Path) -> tuple[Any, Any]:
    """20,000 made rows of 30 standardised columns, 6 classes with shares of .6 down to .005."""
    shares = [0.6, 0.25, 0.1, 0.03, 0.015, 0.005]
    X, y = make_classification(20_000, 30, n_informative=15, n_classes=6, weights=shares, random_state=1)
    return _standardised(X), y


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
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
