"""The site: `python -m sphinx -W --keep-going docs docs/_build` makes it, without network (see CONTRIBUTING.md)."""

import importlib.util
import os
import sys
from pathlib import Path

import linsep

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
# Pictures are drawn on no screen, and digits are those that scikit-learn brings: the same pages on every machine.
os.environ |= {"MPLBACKEND": "Agg", "LINSEP_DATA": ""}

project = "linsep"
author = "The linsep developers"
copyright = author
version = release = linsep.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    # our own
    "formulas",
    "figures",
    "commands",
    "benchmarks",
    "house_links",
    "breaks",
    "public_members",
]
exclude_patterns = ["_build", "gallery/README.md", "**/sg_execution_times*", "sg_execution_times*"]
default_role = "obj"  # `name` in a docstring links to what has a page
nitpicky = False
smartquotes = False  # `--C` and 'data/*.parquet' are for typing
add_module_names = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 100

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autosummary_generate = True
autodoc_typehints = "none"  # types are in the text, in a reader's words
autodoc_member_order = "bysource"
# What is not installed is stood in for, so that its pages are made all the same.
autodoc_mock_imports = [
    name for name in ("dask", "distributed", "pyspark", "py4j", "pandas") if importlib.util.find_spec(name) is None
]
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "copyfile_regex": "",
    "image_scrapers": ("matplotlib",),
    "image_srcset": ["2x"],
    "capture_repr": (),
    "min_reported_time": float("inf"),
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "download_all_examples": True,
    "only_warn_on_example_error": False,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "furo"
html_title = "linsep"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False  # a page that is opened from the disk may not fetch others
html_show_sphinx = False
templates_path = ["_templates"]
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
