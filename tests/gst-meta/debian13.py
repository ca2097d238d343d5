#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""debian13.py --source DIR --build DIR --compiler COMMAND...: GstTensorMeta against GStreamer 1.26.

Compiles gst-plugins/common and simaaitensorbridge with the headers of Debian 13 (scripts/debian13/tree.sh), links them to the kernels of
this build and to the libraries of that tree, and runs tensor_meta.cpp there.
Exit status 77: the tree cannot be had; the reason is printed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

DEFINES = ['-DPACKAGE="simaai-kernels"', '-DSIMAAI_VERSION="0.1.0"', "-DGST_DISABLE_DEPRECATED", '-DG_LOG_DOMAIN="simaaitensor"',
           "-DSIMAAI_HAVE_TENSOR_META=1"]
LIBRARIES = ["gstanalytics-1.0", "gstcheck-1.0", "gstallocators-1.0", "gstbase-1.0", "gstreamer-1.0", "gobject-2.0", "glib-2.0"]


def run(command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        print(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}")
        sys.exit(1)
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "build"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", nargs="+", required=True)
    arguments = parser.parse_args()
    tree = arguments.build / "debian13"
    made = subprocess.run([arguments.source / "scripts/debian13/tree.sh", tree], check=False)
    if made.returncode:
        return made.returncode
    libraries = tree / "root/usr/lib/x86_64-linux-gnu"
    includes = tree / "root/usr/include"
    plugins = arguments.source / "gst-plugins"
    flags = ["-std=c++20", "-O1", "-fPIC", "-Wall", "-Wextra", "-Werror", *DEFINES, f"-I{plugins}",
             f"-I{arguments.source / 'kernels/include'}", "-isystem", includes / "gstreamer-1.0", "-isystem", includes / "glib-2.0",
             "-isystem", libraries / "glib-2.0/include"]
    sources = [*sorted((plugins / "common").glob("*.cpp")), *sorted((plugins / "tensorbridge").glob("*.cpp")),
               plugins / "cast/gstsimaaicast.cpp", plugins / "tess/gstsimaaitess.cpp",
               arguments.source / "tests/gst-meta/tensor_meta.cpp"]
    kernels = [arguments.build / "kernels", arguments.build / "kernels/runtime"]
    with tempfile.TemporaryDirectory(prefix="simaai-debian13-") as work:
        objects = [pathlib.Path(work) / f"{source.parent.name}_{source.stem}.o" for source in sources]
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            list(pool.map(lambda pair: run([*arguments.compiler, *flags, "-c", pair[0], "-o", pair[1]]), zip(sources, objects)))
        program = pathlib.Path(work) / "tensor_meta"
        # The tree has a newer C library than this machine: its loader brings it, and the linker must not miss it.
        run([*arguments.compiler, *objects, "-o", program, *(f"-L{path}" for path in [*kernels, libraries]), "-lsimaai-runtime",
             "-lsimaai-kernels", *(f"-l:lib{name}.so.0" for name in LIBRARIES), "-Wl,--allow-shlib-undefined", "-pthread"])
        # Nothing but what the program registers.
        environment = dict(os.environ, GST_REGISTRY=str(pathlib.Path(work) / "registry"), GST_REGISTRY_FORK="no",
                           G_DEBUG="fatal-criticals", GST_PLUGIN_SYSTEM_PATH_1_0=work, GST_PLUGIN_PATH=work)
        print(run([libraries / "ld-linux-x86-64.so.2", "--library-path", ":".join(map(str, [libraries, *kernels])), program],
                  env=environment), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
