"""Models in files and out of them: JSON to load again, ONNX, SQL and Python to take elsewhere."""
