"""Kernels under AddressSanitizer and UndefinedBehaviorSanitizer: built beside, loaded instead, and told to abort."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLAGS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g", "-O1"]
#: The kernels for any processor and those for AVX2, with what the compiler is told besides, as in CMakeLists.txt.
KERNELS = {"_kernels": [], "_kernels_avx2": ["-mavx2", "-mfma"]}


def build(folder: Path) -> Path:
    """Copy the package into a folder, with kernels that watch what they do; return where to import it from."""
    folder.mkdir(parents=True, exist_ok=True)
    package = folder / "linsep"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "linsep", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name, own in KERNELS.items():
        _compile(package / "_core", folder / name, name, own)
    return folder


def _compile(core: Path, folder: Path, name: str, own: list[str]) -> None:
    """Compile one module; what was compiled before stays in its folder, and is made anew where a source is newer."""
    import nanobind

    folder.mkdir(exist_ok=True)
    library = Path(nanobind.source_dir()) / "nb_combined.cpp"
    include = [nanobind.include_dir(), str(Path(nanobind.__file__).parent / "ext" / "robin_map" / "include")]
    paths = [f"-I{path}" for path in (*include, sysconfig.get_path("include"))]
    common = [os.environ.get("CXX", "g++"), *FLAGS, *own, "-std=c++17", "-fPIC", "-fvisibility=hidden", "-fopenmp-simd"]
    common += [*paths, f"-DNB_DOMAIN={name}", f"-DLINSEP_MODULE={name}"]
    newest = max(path.stat().st_mtime for path in core.glob("*.?pp"))
    sources = [library, *sorted(core.glob("*.cpp"))]
    objects = [folder / f"{source.stem}.o" for source in sources]

    def compiled(source: Path, target: Path) -> None:
        if target.exists() and target.stat().st_mtime > newest:
            return
        whole = target.with_suffix(".part")  # an object that a cut run has left is none
        subprocess.run([*common, "-c", str(source), "-o", str(whole)], check=True)
        whole.replace(target)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compiled, sources, objects))
    target = core / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    subprocess.run([*common, "-shared", *map(str, objects), "-o", str(target), "-lpthread"], check=True)


def _library(name: str) -> Path:
    found = subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return Path(found.stdout.strip())


def look_there() -> None:
    """Import linsep from where these kernels are, also where it is installed to be edited, by a finder of its own."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "ScikitBuildRedirectingFinder"]
    from linsep._core import loading

    place = Path(str(getattr(loading.compiled, "__file__", None)))
    if ROOT / "build" / "sanitized" not in place.parents:
        raise SystemExit(f"the kernels in use are not those with sanitizers: {place}")


def sanitized(arguments: list[str]) -> int:
    """Run a command again with those kernels; where the compiler has no sanitizers, say so and fail.

    They are those that the processor suits, as ever: ``LINSEP_KERNELS=baseline`` has those for any.
    """
    library = _library("libasan.so")
    if not library.is_absolute():
        raise SystemExit("this compiler has no AddressSanitizer")
    environment = os.environ | {
        "PYTHONPATH": str(build(ROOT / "build" / "sanitized")),
        # Beside it what throws: Python itself is no C++, and the sanitizer looks for it once, at the start.
        "LD_PRELOAD": f"{library} {_library('libstdc++.so.6')}",
        # Python itself never gives all memory back.
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "LINSEP_SANITIZED": "1",
    }
    return subprocess.run([sys.executable, *arguments], env=environment, check=False).returncode
