"""Contrast, and colours that stay apart for the colour-blind."""

import itertools

import numpy as np
import pytest

from linsep import palette

THEMES = pytest.mark.parametrize("theme", [palette.LIGHT, palette.DARK], ids=lambda theme: theme.name)

# What the eye sees without its long- or middle-wave cones, on linear RGB (Viénot, Brettel and Mollon, 1999).
TO_CONES = np.array([[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]])
BLIND = {
    "protanopia": np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]]),
    "deuteranopia": np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]]),
}


def linear(colour):
    v = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE L*a*b* of linear RGB under daylight."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
    t = np.clip(xyz / [0.9505, 1.0, 1.089], 0, None)
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def seen(colour, eye):
    rgb = linear(colour)
    if eye != "all cones":
        rgb = np.clip(np.linalg.inv(TO_CONES) @ BLIND[eye] @ TO_CONES @ rgb, 0, 1)
    return lab(rgb)


def test_contrast_is_that_of_the_standard():
    assert palette.contrast("#777777", "#FFFFFF") == pytest.approx(
        4.48, abs=0.005
    )  # the well-known grey that just fails
    assert palette.contrast("#FFFFFF", "#777777") == palette.contrast("#777777", "#FFFFFF")


@THEMES
@pytest.mark.parametrize("ink", ["text", "muted", "negative_text", "positive_text"])
def test_text_has_contrast(theme, ink):
    assert palette.contrast(getattr(theme, ink), theme.background) >= 4.5
    assert palette.contrast(getattr(theme, ink), theme.surface) >= 4.5


@THEMES
def test_marks_have_contrast(theme):
    for colour in (*theme.series, theme.negative, theme.positive):
        assert palette.contrast(colour, theme.background) >= 3


@THEMES
@pytest.mark.parametrize("eye", ["all cones", *BLIND])
def test_the_two_classes_look_different_to_every_eye(theme, eye):
    assert np.linalg.norm(seen(theme.negative, eye) - seen(theme.positive, eye)) > 40


@THEMES
@pytest.mark.parametrize("eye", ["all cones", *BLIND])
def test_the_first_series_look_different_to_every_eye(theme, eye):
    for one, other in itertools.combinations(theme.series[:5], 2):
        assert np.linalg.norm(seen(one, eye) - seen(other, eye)) > 9, (one, other)


@THEMES
def test_colour_maps_run_one_way(theme):
    rising = np.diff([palette.luminance(colour) for colour in theme.sequential])
    assert (rising > 0).all() or (rising < 0).all()
    middle = len(theme.diverging) // 2
    to_zero = np.diff([palette.luminance(colour) for colour in theme.diverging])
    sign = 1 if theme.name == "light" else -1
    assert (sign * to_zero[:middle] > 0).all()
    assert (sign * to_zero[middle:] < 0).all()


def test_every_series_has_a_marker_and_a_dash_of_its_own():
    for theme in (palette.LIGHT, palette.DARK):
        assert len(theme.series) == len(set(theme.series)) == len(set(palette.MARKERS)) == len(set(palette.DASHES))
        assert theme.series[:2] == (theme.positive, theme.negative)


def test_the_theme_suits_the_background():
    assert palette.theme_on("#FFFFFF") is palette.LIGHT
    assert palette.theme_on("#000000") is palette.DARK


def test_the_strongest_colour_of_an_image_is_the_largest_weight_unless_it_towers_above_all():
    weights = np.random.default_rng(0).normal(size=(28, 28))
    assert palette.full_strength(weights) == np.abs(weights).max()
    weights[0, 0] = -500.0
    strongest = palette.full_strength(weights)
    shown = np.abs(weights) >= strongest
    assert 2 * np.quantile(np.abs(weights), 0.75) == pytest.approx(strongest)
    assert 1 <= shown.sum() < 0.05 * weights.size
    assert palette.full_strength(np.zeros(4)) == 1.0
