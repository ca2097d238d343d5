#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Installs the library somewhere else and uses it from there, as an application would.

installed_tree.py destdir  installs this build under a staging folder and builds the examples against it by
                           CMake and by pkg-config
installed_tree.py variant  configures the project anew with a static library, another libdir and prefix, moves the
                           installed tree and builds the examples against it
A cross build names its emulator and sysroot; the programs then run under the emulator.
Exit status 77: a tool that the test needs is not installed.
"""
import argparse
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TARGETS = [prefix + op for op in ("cast", "tess", "casttess", "detess", "detesscast") for prefix in ("", "a65_")]


class Failure(Exception):
    pass


def run(command, **options):
    """Runs a command that must succeed and returns its standard output."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}")
    return done.stdout


class Tree:
    """An installation below `root`, which stands for the file system root of the prefix."""

    def __init__(self, root, prefix, libdir, arguments):
        # The package is looked up by prefix where CMake searches that libdir, else by its own folder.
        self.root = root
        self.prefix = root / pathlib.Path(prefix).relative_to("/")
        self.libdir = self.prefix / libdir
        self.package = (f"-DCMAKE_PREFIX_PATH={self.prefix}" if libdir.startswith("lib")
                        else f"-DSimaKernels_DIR={self.libdir}/cmake/SimaKernels")
        self.compiler = arguments.compiler
        self.flags = ["-fsanitize=" + arguments.sanitize] if arguments.sanitize not in ("", "none") else []
        self.source = arguments.source
        self.nm = arguments.nm
        self.wrapper = [arguments.emulator] if arguments.emulator else []
        if arguments.sysroot:
            self.flags.append(f"--sysroot={arguments.sysroot}")
            # CMAKE_SYSTEM_NAME makes it a cross build for CMake too.
            self.cross = ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={arguments.processor}"]
        else:
            self.cross = []

    def cmake(self, source, build, *options, check=True):
        command = ["cmake", "-G", "Ninja", "-S", source, "-B", build, self.package, *self.cross,
                   f"-DCMAKE_CXX_COMPILER={self.compiler}", f"-DCMAKE_CXX_FLAGS={' '.join(self.flags)}", *options]
        if check:
            return run(command)
        return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)

    def run(self, program, **options):
        """Output of a program built against the tree."""
        return run([*self.wrapper, program], **options)

    def environment(self):
        return dict(os.environ, LD_LIBRARY_PATH=str(self.libdir))


def check_output(name, text, source):
    expected = (source / "tests/package/expected" / f"{name}.txt").read_text()
    # The wording of a refusal is held by other tests; here it counts that there is one, about the right port.
    found = re.sub(r"^(refused: output 0: ).+$", r"\1...", text, flags=re.M)
    if found != expected:
        raise Failure(f"{name} printed\n{text}\nexpected\n{expected}")


def check_examples(tree, work):
    """Every example builds with CMake against the tree, without its private headers, and prints what it should."""
    build = work / "examples"
    tree.cmake(tree.source / "examples", build)
    run(["cmake", "--build", build])
    names = sorted(path.stem for path in (tree.source / "examples").glob("*.cpp"))
    if names != sorted(path.stem for path in (tree.source / "tests/package/expected").glob("*.txt")):
        raise Failure("an example has no expected output, or the other way round")
    for name in names:
        # CMake writes the library's folder into the program: no environment is needed.
        check_output(name, tree.run(build / name), tree.source)


def check_targets(tree, work):
    """All documented targets exist and carry include folder and language level."""
    project = work / "targets"
    project.mkdir()
    lines = ["cmake_minimum_required(VERSION 3.16)", "project(targets CXX)",
             f"find_package(SimaKernels 0.1.0 REQUIRED COMPONENTS {' '.join(TARGETS)} matrix)",
             "find_package(SimaKernels REQUIRED)  # a second call changes nothing"]
    for target in TARGETS:
        op = target.removeprefix("a65_")
        folder = "a65" if target.startswith("a65_") else "ev74"
        (project / f"{target}.cpp").write_text(
            f"#include <simaai/kernels/{folder}/{op}.h>\n#include <simaai/kernels/ops/{op}.h>\n"
            f"int main() {{ return simaai::kernels::ops::{op}::check_inference({{{{}}, {{}}}}).index() == 1 ? 0 : 1; }}\n")
        lines += [f"add_executable(use_{target} {target}.cpp)",
                  f"target_link_libraries(use_{target} PRIVATE SimaKernels::{target})"]
    (project / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    tree.cmake(project, project / "build")
    run(["cmake", "--build", project / "build"])
    for target in TARGETS:
        tree.run(project / "build" / f"use_{target}")


def check_requests(tree, work):
    """Version and component requests that the package must admit or refuse, and the reasons."""
    requests = [("0.1", True), ("0.1.0 EXACT", True), ("0.1...<0.2", True), ("", True), ("0", True),
                ("COMPONENTS cast a65_cast matrix", True), ("0.1.1", False), ("0.2", False), ("0.0.9", False), ("1.0", False),
                ("1", False), ("0.2...0.3", False), ("COMPONENTS matmul", False)]
    project = work / "requests"
    project.mkdir()
    lines = ["cmake_minimum_required(VERSION 3.19)", "project(requests CXX)"]
    for number, (request, _) in enumerate(requests):
        lines += ["unset(SimaKernels_DIR CACHE)", f"find_package(SimaKernels {request} QUIET)",
                  f'message("request{number} ${{SimaKernels_FOUND}} ${{SimaKernels_CONSIDERED_VERSIONS}} '
                  '${SimaKernels_NOT_FOUND_MESSAGE}")']
    (project / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    text = tree.cmake(project, project / "build")
    for number, (request, admitted) in enumerate(requests):
        found = re.search(rf"^request{number} (TRUE|FALSE|0|1) 0\.1\.0 ?(.*)$", text, flags=re.M)
        if found is None or (found.group(1) in ("TRUE", "1")) != admitted:
            raise Failure(f"find_package(SimaKernels {request}) in\n{text}")
        if "matmul" in request and "SimaKernels has no component matmul" not in found.group(2):
            raise Failure(f"no reason for {request} in\n{text}")


def check_damaged(tree, work):
    """An installation that lost its headers is not found, and the message names the file."""
    header = tree.prefix / "include/simaai/kernels/status.h"
    moved = header.with_suffix(".away")
    header.rename(moved)
    try:
        done = tree.cmake(tree.source / "examples", work / "damaged", check=False)
    finally:
        moved.rename(header)
    if done.returncode == 0 or "status.h is missing" not in " ".join(done.stdout.split()):
        raise Failure(f"a tree without headers was accepted\n{done.stdout}")


def check_pkg_config(tree, work):
    """The examples build from pkg-config's flags alone."""
    environment = dict(tree.environment(), PKG_CONFIG_LIBDIR=str(tree.libdir / "pkgconfig"),
                       PKG_CONFIG_SYSROOT_DIR=str(tree.root))
    if run(["pkg-config", "--modversion", "simaai-kernels"], env=environment).strip() != "0.1.0":
        raise Failure("pkg-config reports another version")
    flags = run(["pkg-config", "--cflags", "--libs", "simaai-kernels"], env=environment).split()
    for name in ("a65_casttess", "ev74_detesscast"):
        program = work / f"pkg_{name}"
        run([tree.compiler, "-std=c++20", *tree.flags, tree.source / "examples" / f"{name}.cpp", "-o", program, *flags])
        check_output(name, tree.run(program, env=tree.environment()), tree.source)


def check_language(tree, work):
    """Below C++20 each header that needs it says so, before errors of its own. The preprocessor alone is quick."""
    source, include = work / "language.cpp", tree.prefix / "include"
    folders = [include / "simaai/kernels" / layer for layer in ("", "ops", "a65", "ev74")]
    headers = [header for folder in folders for header in folder.glob("*.h")]
    for header in sorted(headers + [include / "simaai/kernels/matrix" / name for name in ("coord.h", "order.h", "matrix.h")]):
        source.write_text(f"#include <{header.relative_to(include)}>\n")
        steps = ("-E", "-fsyntax-only") if header.name == "casttess.h" else ("-E",)
        for standard, step in itertools.product(("c++17", "c++20"), steps):
            done = subprocess.run([tree.compiler, *tree.flags, f"-std={standard}", step, f"-I{include}", source],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            first = (re.findall(r"error: (.*)", done.stderr) or [""])[0]
            if standard == "c++20" and done.returncode != 0 or standard == "c++17" and "SimaKernels needs C++20" not in first:
                raise Failure(f"{header.name} as {standard}:\n{done.stderr}")


def check_symbols(tree):
    """The shared library exports the public interface and nothing of the inner layers."""
    text = run([tree.nm, "--dynamic", "--defined-only", "--demangle", tree.libdir / "libsimaai-kernels.so"])
    for op in ("cast", "tess", "casttess", "detess", "detesscast"):
        for name in (f"ops::{op}::check_inference", f"a65::{op}::execute", f"ev74::{op}::encode_relocatable"):
            if f"simaai::kernels::{name}(" not in text:
                raise Failure(f"{name} is not exported")
    inner = re.findall(r"^.*simaai::kernels::(?:wire|core|(?:\w+::)*detail)::.*$", text, flags=re.M)
    if inner:
        raise Failure("inner functions are exported:\n" + "\n".join(inner))


def tensor_flags(tree, packages):
    """pkg-config's flags for packages of ours that need GStreamer, which is outside the tree."""
    searched = run(["pkg-config", "--variable=pc_path", "pkg-config"]).strip()
    environment = dict(tree.environment(), PKG_CONFIG_LIBDIR=f"{tree.libdir / 'pkgconfig'}:{searched}",
                       PKG_CONFIG_SYSROOT_DIR=str(tree.root))
    flags = run(["pkg-config", "--cflags", "--libs", *packages], env=environment).split()
    outside = re.compile(rf"^(-[IL]){re.escape(str(tree.root))}(/.*)$")
    found = [(flag, outside.match(flag)) for flag in flags]
    return [match.group(1) + match.group(2) if match and not pathlib.Path(flag[2:]).exists() else flag
            for flag, match in found]


def check_tensor_library(tree, work):
    """A program in C and the example applications build against the tree by pkg-config, and run with its plug-ins."""
    sources = tree.source / "gst-plugins/examples"
    programs = {"tensor_library": (tree.source / "tests/package/tensor_library.c", ["gstsimaaitensor-1.0"]),
                "camera": (sources / "camera.cpp", ["gstsimaaitensor-1.0", "gstreamer-app-1.0"]),
                "kernels_only": (sources / "kernels_only.cpp", ["simaai-runtime"])}
    for name, (source, packages) in programs.items():
        language = ["-x", "c", "-std=c11", "-Wall", "-Wextra", "-Werror"] if source.suffix == ".c" else ["-std=c++20", "-pthread"]
        run([tree.compiler, *tree.flags, *language, source, "-x", "none", "-o", work / name, *tensor_flags(tree, packages)])
    environment = dict(tree.environment(), GST_PLUGIN_PATH=str(tree.libdir / "gstreamer-1.0"),
                       GST_REGISTRY=str(work / "registry"), GI_TYPELIB_PATH=str(tree.libdir / "girepository-1.0"))
    if run([work / "tensor_library"], env=environment) != "bfloat16 <1,640,640,3>: 13107200 bytes at 16\n":
        raise Failure("the program in C printed something else")
    pictures, values = work / "pictures.rgb", {}
    pictures.write_bytes(b"".join(bytes(i * 7 % 256 for i in range(16 * 12 * 3)) for _ in range(2)))
    with open(pictures, "rb") as picture, open(work / "alone.f32", "wb") as result:
        subprocess.run([work / "kernels_only", "16x12"], stdin=picture, stdout=result, env=environment, check=True)
    if (work / "alone.f32").stat().st_size != 2 * 16 * 12 * 3 * 4:
        raise Failure("kernels_only wrote something else")
    commands = {"camera": [work / "camera"]}
    if (tree.libdir / "girepository-1.0/GstSimaai-1.0.typelib").exists() and not tree.flags:
        commands["camera.py"] = ["/usr/bin/python3", sources / "camera.py"]
    for name, command in commands.items():
        run([*command, "--frames", "3", "--size", "32x24", "--raw", work / f"{name}.f32"], env=environment)
        values[name] = (work / f"{name}.f32").read_bytes()
    if len(values["camera"]) != 3 * 32 * 24 * 3 * 4 or len(set(values.values())) != 1:
        raise Failure("the camera applications disagree")


def test_destdir(arguments, work):
    stage = work / "stage"
    run(["meson", "install", "-C", arguments.build, "--no-rebuild", "--quiet", "--destdir", stage])
    tree = Tree(stage, arguments.prefix, arguments.libdir, arguments)
    check_examples(tree, work)
    check_targets(tree, work)
    check_requests(tree, work)
    check_damaged(tree, work)
    check_pkg_config(tree, work)
    check_language(tree, work)
    if (tree.libdir / "libsimaai-kernels.so").exists():
        check_symbols(tree)
    if (tree.libdir / "libgstsimaaitensor-1.0.so").exists() and not arguments.sysroot:
        check_tensor_library(tree, work)


def test_variant(arguments, work):
    build = work / "build"
    prefix = work / "first place"
    run(["meson", "setup", build, arguments.source, f"--prefix={prefix}", "--libdir=deep/lib64", "--includedir=headers",
         "--default-library=static", "-Dgst=disabled", "-Dtests=false", "-Dbench=disabled"],
        env=dict(os.environ, CXX=arguments.compiler))
    run(["ninja", "-C", build])
    run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"])
    arguments.sanitize = "none"
    flags = run(["pkg-config", "--static", "--cflags", "--libs", "simaai-kernels"],
                env=dict(os.environ, PKG_CONFIG_LIBDIR=str(prefix / "deep/lib64/pkgconfig")))
    if str(prefix / "headers") not in flags.replace("\\ ", " "):
        raise Failure(f"pkg-config does not name the include folder: {flags}")
    moved = work / "second place"
    prefix.rename(moved)
    tree = Tree(pathlib.Path("/"), moved, "deep/lib64", arguments)
    check_examples(tree, work)
    check_targets(tree, work)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("destdir", "variant"))
    for name in ("source", "build"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("prefix", "libdir", "compiler", "sanitize"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--nm", default="nm")
    for name in ("emulator", "sysroot", "processor"):
        parser.add_argument(f"--{name}")
    arguments = parser.parse_args()
    for tool in ("cmake", "meson", "ninja", "nm", "pkg-config"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            return 77
    with tempfile.TemporaryDirectory(prefix="simaai-package-") as work:
        try:
            {"destdir": test_destdir, "variant": test_variant}[arguments.kind](arguments, pathlib.Path(work))
        except Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
