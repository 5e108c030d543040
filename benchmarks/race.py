"""The race: linsep and its peers side by side, as ratios. One command does it all.

    python benchmarks/race.py --data FOLDER [--problems a9a ijcnn1] [--losses logistic hinge l1] [--variants] [--quick]

It makes an environment of its own, installs linsep and the peers there, runs everything, prints the ratios and
writes race.txt, race.json and race.png to benchmarks/out. Progress goes to standard error.

Everything else should be idle meanwhile. Where a machine cannot be for hours, the race is run in pieces, some problems
and losses at a time: `--add` keeps what race.json has of the others, and `--cache` what was read for the next piece.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
# name: (loader in datasets.py, whether its logistic problem has an intercept); hinge never has one,
# since LIBLINEAR and snapML penalise theirs. Those of more than two classes are for the softmax, with intercepts.
PROBLEMS = {
    "a9a": ("a9a", False),
    "ijcnn1": ("ijcnn1", False),
    "20news": ("twenty_newsgroups_binary", False),
    "debian": ("debian_descriptions", False),
    "covtype": ("covtype", True),
    "mnist37": ("mnist_3_vs_7", True),
    "parity": ("mnist_parity", True),
    "breast-cancer": ("breast_cancer", True),
    "reviews": ("made_reviews", False),
    "sentences": ("made_sentences", False),
    "packages": ("rare_packages", False),
    "posts": ("posts", False),
    "sms": ("sms", False),
    "w8a": ("w8a", False),
    "madelon": ("madelon", True),
    "spambase": ("spambase", True),
    "iris": ("iris", True),
    "wine": ("wine", True),
    "digits": ("digits", True),
    "five": ("five_classes", True),
    "uneven": ("uneven_classes", True),
    "covtype7": ("covtype_classes", True),
    "mnist": ("mnist", True),
    "20news20": ("twenty_newsgroups", True),
    "sections": ("debian_sections", True),
}
LOSSES = ["logistic", "hinge", "l1", "softmax"]
QUICK = ["a9a", "ijcnn1", "20news", "breast-cancer"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LINSEP_DATA"), help="folder with the data sets")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, help="default: all; with --quick the small ones")
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=LOSSES)
    parser.add_argument("--variants", nargs="*", help='each problem nine times over, or as these only: "" /4 /16 …')
    parser.add_argument("--cache", type=Path, help="folder for data sets as they were read, for the next piece")
    parser.add_argument("--add", action="store_true", help="keep what --out has of other problems and losses")
    parser.add_argument("--peers", nargs="+", help="only those whose name contains one of these words")
    parser.add_argument("--limit", type=float, help="seconds for a run, a third of what a peer's ladder may take [60]")
    parser.add_argument("--repeats", type=int, default=20, help="how often runs of less than .05 s are made [20]")
    parser.add_argument("--quick", action="store_true", help="small problems, single runs, short limits")
    parser.add_argument("--no-extras", action="store_true", help="fitting times only: no memory, predict, growth")
    parser.add_argument("--env", type=Path, default=HERE / ".venv", help="where the environment is made and kept")
    parser.add_argument("--no-install", action="store_true", help="use the environment as it is")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="folder for race.txt, race.json, race.png")
    args = parser.parse_args()
    if args.data is None or not Path(args.data).is_dir():
        parser.error("--data (or LINSEP_DATA) must name the folder with the data sets")
    return args


def python_of(env: Path) -> Path:
    return env / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(env: Path) -> None:
    """Make the environment once, and put linsep as it is now into it every time."""
    if not python_of(env).exists():
        venv.create(env, with_pip=True)
        for peer in (HERE / "requirements.txt").read_text().splitlines():
            if not peer.startswith("#"):
                pip(env, peer)
    # A build folder of its own: the one in the repository belongs to whoever develops there.
    pip(env, str(HERE.parent), f"-Cbuild-dir={env.resolve() / 'build'}")


def pip(env: Path, *what: str) -> None:
    """Install; a peer that cannot be installed here is missing from the race, no more."""
    command = [str(python_of(env)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
        print(f"could not install {what[0]}", file=sys.stderr)


def inside(env: Path) -> bool:
    return Path(sys.prefix).resolve() == env.resolve()


def main() -> None:
    args = arguments()
    if not inside(args.env):
        if not args.no_install:
            install(args.env)
        python = str(python_of(args.env))
        os.execv(python, [python, *sys.argv])
    from course import run

    import linsep._core.loading as kernels

    if kernels.compiled is None:
        raise SystemExit("linsep has no compiled kernels in this environment: the race would time the plain twins")

    names = args.problems or (QUICK if args.quick else PROBLEMS)
    run(args, {name: PROBLEMS[name] for name in names})


if __name__ == "__main__":
    main()
