"""The command line: one function a command, whose help is its docstring.

Results go to standard output, everything else to standard error. A command returns the exit code: 0 for done and
proven, 1 for done but not proven to ``tol``. For bad usage or bad data it raises, and `main` turns that into one line
and 2, with ``--json`` also into ``{"error": …}`` on standard output.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from .. import __version__
from .speech import for_commands, note, print_json
from .startup import SELDOM, check_addresses, defer, end_in_time, is_plain, leave_out

if TYPE_CHECKING:
    from cyclopts import App

__all__ = ["main", "run"]

#: Packages that only some commands need, and the extra that brings them.
EXTRAS = {
    **{"cyclopts": "cli", "rich": "cli", "pyarrow": "cli"},
    **{"onnx": "onnx", "matplotlib": "plot", "python_calamine": "excel"},
    **{"starlette": "play", "uvicorn": "play", "websockets": "play"},
}
#: What Python, the loader of libraries, pyarrow and this command say where a limit on addresses leaves no room.
NO_ROOM = (
    *("can't start new thread", "failed to map segment", "Cannot allocate memory", "Failed to launch worker thread"),
    *("Resource temporarily unavailable", "ulimit -v"),
)
#: An exit code above this stands for a signal, as in shells.
SIGNALLED = 128


class _Ended(BaseException):
    """The system asks to end: what was begun is cleaned up on the way out, and nobody takes it for a failure."""


def run() -> None:
    """Run the command of this process: `main`, started quickly, and left quickly (see `startup`)."""
    plain = is_plain()
    if not plain:
        defer(*SELDOM)
        if not any(word.startswith(("--dask", "--spark")) for word in sys.argv):  # which need both
            leave_out("pandas", "psutil")
    try:
        _hear_signals()
        code = main()
        with suppress(BrokenPipeError):
            sys.stderr.flush()
    except (KeyboardInterrupt, _Ended) as end:  # before the command began to listen, or when it was done
        code = _signalled(end)
    if code > SIGNALLED:  # die of it, so that a shell's loop ends too
        signal.signal(code - SIGNALLED, signal.SIG_DFL)
        os.kill(os.getpid(), code - SIGNALLED)
    if plain:
        sys.exit(code)
    # All is written. To take the data and a thousand modules apart one by one before the system does takes as long as
    # many a fit.
    os._exit(code)


def _hear_signals() -> None:
    """Let signals that ask to end clean up on the way out, and end the process soon in any case."""
    numbers = [int(getattr(signal, name)) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    heard = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]  # nohup has it ignored
    for number in heard:
        signal.signal(number, _end)
    if "--max-memory" not in sys.argv:  # which writes the best so far at Ctrl-C, however long that takes
        heard.append(int(signal.SIGINT))
    if os.name == "posix":
        end_in_time(*(number for number in heard if signal.getsignal(number) is not signal.SIG_IGN))


def _end(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_DFL)  # who asks twice does not want to wait
    raise _Ended(number)


def _signalled(end: KeyboardInterrupt | _Ended) -> int:
    """Return the exit code that stands for the signal that was heard."""
    return SIGNALLED + (int(end.args[0]) if isinstance(end, _Ended) else signal.SIGINT)


def main() -> int:
    """Run the command in ``sys.argv`` and return the exit code."""
    debug, for_programs = "--debug" in sys.argv, "--json" in sys.argv
    _prepare_streams()
    warnings.showwarning = lambda message, category, *where, **more: note(f"warning: {for_commands(message)}")
    try:
        words = [word for word in sys.argv[1:] if word != "--debug"]
        check_addresses()
        code = _app()(words, print_error=False, exit_on_error=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # Who was reading has had enough, as in `linsep demo | head`. Python would complain again on leaving.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        note("interrupted")
        return SIGNALLED + signal.SIGINT
    except _Ended as end:
        return _signalled(end)
    except Exception as error:  # noqa: BLE001 (the last resort before a user sees a traceback)
        # A signal that comes while a class is made: Python 3.11 raises a RuntimeError because of it.
        if isinstance(error.__cause__, KeyboardInterrupt | _Ended):
            return _signalled(error.__cause__)
        if debug:
            traceback.print_exc()
        note(_explain(error))
        if for_programs:
            with suppress(OSError):  # it may be what failed
                print_json({"error": _explain(error)})
        return 2


def _app() -> App:
    # Here, not above: a missing package must not keep `main` from saying so.
    from cyclopts import App, Parameter

    from . import learning, models, showing

    commands: tuple[Callable[..., int], ...] = (
        *(showing.demo, learning.fit, models.predict, models.evaluate, models.verify, learning.separable),
        *(
            learning.compare,
            models.explain,
            models.report,
            learning.replay,
            showing.play,
            models.export,
            learning.doctor,
        ),
    )
    app = App(
        name="linsep",
        help="Linear classifiers that prove their answers.",
        help_epilogue="With --debug, an error shows its traceback.",
        version=__version__,
        default_parameter=Parameter(negative=()),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for command in commands:
        app.command(command)
    app.register_install_completion_command(help="Let the shell complete commands and options (bash, zsh, fish).")
    return app


def _prepare_streams() -> None:
    """Let a terminal that cannot show a block character show a question mark, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _explain(error: Exception) -> str:
    """Return one line for the user: what was wrong, and what to do where it is not the data."""
    if isinstance(error, ModuleNotFoundError) and (extra := EXTRAS.get((error.name or "").partition(".")[0])):
        return f"{error.name} is not installed, which this command needs: pip install 'linsep[{extra}]'"
    if any(words in str(error) for words in NO_ROOM):
        return f"not enough memory ({error}); free some, raise the limit (ulimit -v), or set LINSEP_NUM_THREADS=1"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}; the output is not complete"
    if isinstance(error, MemoryError):
        found = f" ({error})" if str(error) else ""
        return f"not enough memory{found}; fit a long file with --max-memory, or use fewer columns or a lower --degree"
    if isinstance(error, OSError | ValueError):
        return _in_options(for_commands(error))
    if type(error).__module__.startswith("cyclopts"):
        said = re.sub(r'"(--[\w-]+)"', r"\1", " ".join(str(error).split()))  # of old it has quotes around options
        said = re.sub(r"^Unused Tokens: \[(.*)\]", r"\1: more than this command takes without an option", said)
        if "--data requires an argument" in said:  # a list such as --category a b takes all words to the next option
            said += " Write the file first, and lists such as --category a b after it."
        return f"{said} linsep --help shows the commands, linsep COMMAND --help their options"
    return f"internal error, {type(error).__name__}: {error}. Run it again with --debug and report what it shows"


def _in_options(message: str) -> str:
    """Return what is said of a parameter, such as ``l1_ratio=2``, of the option that gave it: ``--l1-ratio 2``."""

    def option(found: re.Match[str]) -> str:
        name = "--" + found.group(2).replace("_", "-")
        return f"{found.group(1)}{name} " if name in sys.argv else found.group()

    return re.sub(r"(^|: )(\w+)=", option, message)
