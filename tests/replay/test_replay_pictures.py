"""Replays as pictures: feature maps, projections and animations."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from films import circle, embedded, flat, nasty_film
from linsep import LinearSVC, Perceptron
from linsep.replay import render, replay, save, save_animation
from linsep.replay.animation import draw_picture

pytestmark = pytest.mark.slow

# --- the picture


def test_m23_through_a_feature_map_the_boundary_is_drawn_in_the_original_plane():
    X, y = circle()
    pipe = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron(random_state=0))
    data = embedded(render(replay(pipe, X, y)))
    picture, frames = data["picture"], data["frames"]
    assert picture["kind"] == "map"
    pipe.set_params(perceptron__keep="last").fit(X, y)
    corners = np.column_stack([part.ravel() for part in np.meshgrid(picture["u"], picture["v"])])
    *w, b = frames["plane"][-1]
    g = np.tensordot(w, np.array(picture["basis"]), axes=1) + b
    np.testing.assert_allclose(g, pipe.decision_function(corners), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(np.column_stack([data["points"]["u"], data["points"]["v"]]), X, rtol=1e-5)
    assert g.min() < 0 < g.max()


def test_a_feature_map_of_a_data_frame_keeps_its_names():
    X, y = circle()
    frame = pd.DataFrame(X, columns=["width", "height"])
    film = replay(make_pipeline(StandardScaler(), PolynomialFeatures(3), Perceptron(random_state=0)), frame, y)
    assert film.scene.names == ("width", "height")
    assert film.scene.kind == "map"


def test_many_features_are_projected_and_the_final_plane_is_upright():
    X, y = load_breast_cancer(return_X_y=True)
    frame = pd.DataFrame(StandardScaler().fit_transform(X), columns=load_breast_cancer().feature_names)
    model = LinearSVC().fit(frame, y)
    film = replay(LinearSVC(), frame, y)
    assert film.scene.kind == "projection"
    distance = model.decision_function(frame) / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(film.scene.points[:, 0], distance, atol=1e-9)
    p, q, r = film.best_plane(len(film.records) - 1)
    assert p == pytest.approx(np.linalg.norm(model.coef_))
    assert (q, r) == pytest.approx((0, 0), abs=1e-9)
    assert "30 features on two axes" in film.scene.sentence
    assert "error" in film.scene.sentence, "the sentence names the features of the second axis"
    assert film.band.tolist() == [1.0] * len(film.records)


def test_sparse_examples_and_a_single_feature_have_a_picture(overlapping):
    X, y = overlapping
    dense, csr = replay(LinearSVC(), X, y), replay(LinearSVC(), sparse.csr_array(X), y)
    np.testing.assert_allclose(dense.scene.points, csr.scene.points, atol=1e-6)
    film = replay(Perceptron(order="cyclic"), [[0.0], [1.0], [3.0]], [0, 0, 1])
    assert film.scene.points.shape == (3, 2)
    assert np.isfinite(film.scene.v).all()


def test_two_features_are_drawn_as_they_are():
    X, y = flat()
    film = replay(Perceptron(order="cyclic"), X, y, feature_names=["a", "b"])
    assert (film.scene.kind, film.scene.names) == ("features", ("a", "b"))
    np.testing.assert_array_equal(film.scene.points, X)


# --- animations


def test_m23_the_animation_draws_the_plane_where_it_is():
    from matplotlib.figure import Figure

    X, y = flat()
    film = replay(Perceptron(order="cyclic"), X, y)
    k = len(film.records) - 1
    axes = Figure().add_subplot()
    draw_picture(film, k, axes)
    lines = [c for c in axes.collections if type(c).__name__ == "QuadContourSet"]
    vertices = np.concatenate([path.vertices for path in lines[1].get_paths()])
    np.testing.assert_allclose(vertices @ film.planes[k][:2] + film.planes[k][2], 0, atol=1e-9)
    assert sum(len(c.get_offsets()) for c in axes.collections[:4]) == len(X)


def test_an_animation_has_the_frames_asked_for(tmp_path):
    from PIL import Image

    X, y = flat()
    film = replay(Perceptron(order="cyclic"), X, y, tmp_path / "all.html")
    save_animation(film, tmp_path / "some.gif", fps=1, frames=3)
    lasts = 0
    with Image.open(tmp_path / "some.gif") as picture:
        assert picture.n_frames >= 3
        for k in range(picture.n_frames):
            picture.seek(k)
            lasts += picture.info["duration"]
    assert lasts == 4000, "three frames of a second, and the last stands for another"
    assert (tmp_path / "all.html").read_text() == render(film)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg to write MP4 with; .ci/run installs it")
@pytest.mark.slow
def test_m23_an_mp4_shows_what_the_page_shows(tmp_path):
    from PIL import Image

    X, y = flat()
    film = replay(Perceptron(order="cyclic"), X, y)
    for ending in ("gif", "mp4"):
        save_animation(film, tmp_path / f"film.{ending}", fps=2, frames=4)
    words = ["ffmpeg", "-loglevel", "error", "-i", tmp_path / "film.mp4", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(words, capture_output=True, timeout=300, check=True).stdout
    with Image.open(tmp_path / "film.gif") as picture:
        width, height = picture.size
        expected = np.asarray(picture.convert("RGB")).astype(float)
    frames = np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)
    assert len(frames) == 4 + 2, "four frames, and the last stands for another second"
    assert np.abs(frames[0] - expected).mean() < 4, "the first frame is that of the GIF, but for compression"
    assert np.abs(frames[0].astype(float) - frames[-1]).mean() > 1
    assert np.abs(frames[-1].astype(float) - frames[-2]).mean() < 0.5


@pytest.mark.skipif(os.name == "nt", reason="the program that fails is a shell script")
def test_an_ffmpeg_that_fails_is_told_with_what_to_do(tmp_path, monkeypatch):
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho 'Unknown encoder h264' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ValueError, match=r"a\.mp4: ffmpeg could not write it .*; write a \.gif"):
        save(nasty_film(), tmp_path / "a.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["ffmpeg"]


def test_an_animation_says_what_it_lacks(tmp_path, monkeypatch):
    film = nasty_film()
    from matplotlib import animation

    monkeypatch.setattr(animation.FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(ValueError, match=r"a\.mp4: MP4 needs the program ffmpeg, which is not installed"):
        save(film, tmp_path / "a.mp4")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'linsep\[plot\]'"):
        save(film, tmp_path / "a.gif")
    with pytest.raises(ValueError, match="fps=0"):
        save_animation(film, tmp_path / "a.gif", fps=0)
    assert list(tmp_path.iterdir()) == []
