"""The installed command, run as users run it."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import linsep
from linsep import cli

COMMAND = Path(sys.executable).with_name("linsep.exe" if os.name == "nt" else "linsep")
FOLDER = os.environ.get("LINSEP_DATA", "")


def run(*arguments, **environment):
    """Run the command where nothing of the tester's own settings shows; None removes a variable."""
    settings = {"LINSEP_DATA": None, "NO_COLOR": None, "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8"}
    merged = os.environ | settings | environment
    env = {name: str(value) for name, value in merged.items() if value is not None}
    return subprocess.run([COMMAND, *arguments], env=env, capture_output=True, encoding="utf-8", timeout=300)


@pytest.fixture(autouse=True)
def folder(tmp_path_factory, monkeypatch):
    """Commands run in a folder of their own: the demo leaves its report where it runs."""
    folder = tmp_path_factory.mktemp("here")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.slow
def test_m21_demo_prints_to_standard_output_and_writes_its_report_where_it_runs(folder):
    done = run("demo")
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if not line.endswith("…")] == [], "but for progress"
    assert "perceptron (pocket)" in done.stdout
    assert "thresholds: report.html\n" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["report.html"]
    assert 50_000 < (folder / "report.html").stat().st_size < 3_000_000
    assert "\x1b" not in done.stdout, "no colour in a pipe"


@pytest.mark.slow
def test_demo_in_a_colour_terminal():
    done = run("demo", "--noise", "0", FORCE_COLOR="1", TERM="xterm-256color", COLORTERM="truecolor", COLUMNS="40")
    assert "\x1b[38;2;" in done.stdout
    assert "▀▀" in done.stdout
    assert "[bold]" not in done.stdout
    plain = run("demo", "--noise", "0", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color").stdout
    assert "▓" in plain


@pytest.mark.slow
def test_demo_for_programs():
    Path("report.html").write_text("somebody's own")
    done = run("demo", "--json", "--seed", "3", "--noise", "0")
    record = json.loads(done.stdout)
    assert (record["seed"], record["noise"], record["images"]["side"]) == (3, 0.0, 28)
    models = ["perceptron (pocket)", "least squares", "logistic", "SVM", "hard margin"]
    assert [fit["model"] for fit in record["fits"]] == models
    gaps = {fit["model"]: fit["gap"] for fit in record["fits"]}
    assert gaps.pop("least squares") is None, (
        "it goes through every training image: its objective is 0, but for rounding"
    )
    assert all(0 <= gap <= 1e-4 for gap in gaps.values())
    assert record["report"] == "report-2.html", "what nobody named replaces nothing"
    assert Path("report.html").read_text() == "somebody's own"
    assert Path("report-2.html").stat().st_size > 50_000


def test_a_report_that_cannot_be_written_is_an_error():
    done = run("demo", "-o", "nowhere/report.html")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_doctor_tells_versions_kernels_and_threads():
    facts = json.loads(run("doctor", "--json", LINSEP_NUM_THREADS="3").stdout)
    assert facts["linsep"] == linsep.__version__
    assert facts["packages"]["numpy"] == np.__version__
    assert (facts["kernels"], facts["threads"]) == (linsep._core.kernels_in_use(), 3)
    text = run("doctor", LINSEP_KERNELS="reference").stdout
    assert "kernels      reference" in text
    assert "correct but slow" in text


@pytest.mark.slow
def test_doctor_names_a_constant_column_of_a_file_and_who_centres_one_that_is_far_off(tmp_path):
    rows = [f"{k % 7},{20000 + k % 5},3,{'yes' if k % 3 else 'no'}" for k in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(["a,day,unit,label", *rows, ""]))
    done = run("doctor", str(tmp_path / "data.csv"), "-t", "label", "--numeric", "a", "day", "--json")
    found = {one["kind"]: one for one in json.loads(done.stdout)["findings"]}
    assert found["constant"]["columns"] == ["unit"]
    assert "`linsep fit` does with tables" in found["far off"]["message"]


@pytest.mark.slow
def test_doctor_does_not_complain_that_days_are_counted_from_1970(tmp_path):
    rows = [f"{k % 7},2025-01-{1 + k % 28:02d},{'yes' if k % 3 else 'no'}" for k in range(90)]
    (tmp_path / "data.csv").write_text("\n".join(["a,day,label", *rows, ""]))
    done = run("doctor", str(tmp_path / "data.csv"), "-t", "label", "--json")
    assert "far off" not in {one["kind"] for one in json.loads(done.stdout)["findings"]}


@pytest.mark.slow
def test_doctor_diagnoses_a_file_by_name(tmp_path):
    rows = np.random.default_rng(0).standard_normal((60, 2))
    lines = [f"{a:.6g},{1e6 * b:.6g},7,{2 * a:.6g},{'yes' if a + b > 0 else 'no'}" for a, b in rows]
    (tmp_path / "data.csv").write_text("\n".join(["age,income,unit,twice,label", *lines]))
    done = run("doctor", str(tmp_path / "data.csv"), "-t", "label", "--json")
    found = {one["kind"]: one["columns"] for one in json.loads(done.stdout)["findings"]}
    assert found["scale"] == ["income", "age"]
    assert {"separable"} <= set(found)
    text = run("doctor", str(tmp_path / "data.csv"), "-t", "label").stdout
    assert "'income' varies by" in text
    assert "standardise" in text
    done = run("doctor", str(tmp_path / "nowhere.csv"), "-t", "label")
    assert (done.returncode, done.stdout) == (2, "")


def test_version_and_help():
    assert run("--version").stdout.strip() == linsep.__version__
    done = run()
    assert done.returncode == 0
    assert all(word in done.stdout for word in ("demo", "doctor", "--debug"))
    assert "LINSEP_DATA" in run("demo", "--help").stdout
    assert "probability_yes" in run("predict", "--help").stdout


def test_python_runs_the_command_as_a_module():
    words = [sys.executable, "-m", "linsep", "fit", "nowhere.csv", "--target", "y"]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 2
    assert "nowhere.csv: no such file" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["demo", "--seed", "many"], "seed"),
        (["demo", "--seed", "-1"], "for --seed. Must be >= 0"),
        (["demo", "--noise", "-1"], "--noise -1.0 must be zero or a positive number"),
        (["demo", "--data", "nowhere"], "nowhere: no such folder"),
        (["demo", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_usage_is_one_message_and_exit_code_two(arguments, complaint, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["linsep", *arguments])
    with warnings.catch_warnings():
        warnings.resetwarnings()
        try:
            code = cli.main()
        except SystemExit as end:
            code = end.code
    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert complaint in said.err
    assert "Traceback" not in said.err


def test_debug_shows_the_traceback():
    done = run("demo", "--data", "nowhere", "--debug")
    assert done.returncode == 2
    assert "Traceback" in done.stderr


@pytest.mark.slow
def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(b"\x1f\x8b rubbish")
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(b"")
    for done in (run("demo", "--data", tmp_path), run("demo", LINSEP_DATA=tmp_path)):
        assert done.returncode == 2
        assert "train-images-idx3-ubyte.gz: the gzip compression is damaged" in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_folder_of_other_data_is_noted_and_the_digits_are_used(tmp_path):
    done = run("demo", "--noise", "0", LINSEP_DATA=tmp_path)
    assert done.returncode == 0
    assert "scikit-learn's digits" in done.stdout
    assert str(tmp_path) in done.stderr


@pytest.mark.parametrize("package", ["cyclopts", "rich"])
def test_a_missing_extra_is_named_with_the_way_to_get_it(tmp_path, package):
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError('No {package}', name='{package}')")
    done = run("demo", PYTHONPATH=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (f"linsep: {package} is not installed, which this command needs: pip install 'linsep[cli]'\n")


@pytest.mark.slow
def test_a_terminal_without_block_characters_gets_question_marks():
    done = run("demo", "--noise", "0", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "??" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX pipe")
def test_a_reader_that_leaves_early_causes_no_complaint():
    # Images of MNIST take more than a second, after which progress is shown.
    digits = {name: value for name, value in os.environ.items() if name != "LINSEP_DATA"}
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        for arguments in (["doctor"], ["demo", "--noise", "0"]):
            done = subprocess.run([COMMAND, *arguments], stdout=closed, stderr=subprocess.PIPE, timeout=300, env=digits)
            said = done.stderr.decode().splitlines()
            assert [line for line in said if not line.endswith("…")] == [], "but for progress"


def test_importing_linsep_leaves_the_command_line_alone():
    script = "import sys, linsep; print([m for m in ('linsep.cli', 'linsep.demo', 'cyclopts') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not FOLDER, reason="LINSEP_DATA does not name a folder with the MNIST files")
def test_m21_the_command_finds_mnist():
    by_variable, by_option = run("demo", "--json", LINSEP_DATA=FOLDER), run("demo", "--json", "--data", FOLDER)
    assert json.loads(by_variable.stdout)["images"] == {"source": "MNIST", "side": 28, "train": 4132, "test": 680}
    one, other = (json.loads(done.stdout) for done in (by_variable, by_option))
    for record in (one, other):
        for fit in record["fits"]:
            assert fit.pop("seconds") > 0
    assert one == other


def test_the_shell_completes_commands_and_options(tmp_path):
    done = run("--install-completion", HOME=tmp_path, SHELL="/bin/bash", XDG_DATA_HOME=None)
    assert done.returncode == 0, done.stderr
    (script,) = tmp_path.rglob("completions/linsep")
    ask = 'source "$1"; COMP_WORDS=(linsep "$2"); COMP_CWORD=1; _linsep; printf "%s\\n" "${COMPREPLY[@]}"'
    words = ["bash", "-c", ask, "bash", script, "sep"]
    offered = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=300, check=True).stdout
    assert offered.split() == ["separable"]
