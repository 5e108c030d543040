"""Choosing: C by its whole path or by cross-validation, thresholds, probabilities, features."""
