# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which layer may use which: #include lines, link rules in meson.build, GLib and exceptions kept out of the kernels."""
import posixpath
import re

# "api" is the vocabulary at the top of the installed headers: tensor_spec.h, status.h, buffers.h, export.h.
MAY_USE = {
    "api": set(),
    "core": set(),
    "wire": {"core"},
    "ops": {"core", "api"},
    "a65": {"ops", "core", "api"},
    "ev74": {"ops", "wire", "core", "api"},
    "matrix": {"core", "api"},
    "runtime": {"a65", "ev74", "ops", "core", "api"},
    "firmware": {"core", "wire"},
    "model": {"firmware", "runtime", "core", "wire", "api"},
    "gst": {"ops", "a65", "matrix", "runtime", "api"},
    "oracle": set(),
}
# Single headers that a layer may use beside whole layers.
MAY_INCLUDE = {
    "core": {"kernels/include/simaai/kernels/tensor_spec.h"},
    "oracle": {"kernels/include/simaai/kernels/tensor_spec.h"},
}
# Single headers that one file may use: where a part is brought in that everything else only knows by an interface.
FILE_MAY_INCLUDE = {
    "gst-plugins/plugin.cpp": {"firmware/model/transport/model_transport.h"},
}
KERNEL_LAYERS = ("core", "wire", "ops", "a65", "ev74", "matrix", "runtime")
FREESTANDING = ("core", "wire")
HOSTED_HEADERS = re.compile(
    r"^(string|vector|memory|map|set|unordered_\w+|deque|list|functional|iostream|\w?stream|thread|mutex|future|"
    r"condition_variable|stdexcept|system_error|filesystem|locale|regex|cstdio|cstdlib|stdio\.h|stdlib\.h|unistd\.h|"
    r"sys/.*|linux/.*)$")
GLIB_HEADER = re.compile(r"^(gst|glib|gobject|gio)[/.-]")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SEARCH_FOLDERS = ("kernels", "kernels/include", "firmware", "gst-plugins", "tests", "bench", ".")
PREFIXES = (
    [("kernels/include/simaai/kernels/" + layer + "/", layer) for layer in KERNEL_LAYERS]
    + [("kernels/include/simaai/runtime/", "runtime"), ("kernels/include/", "api")]
    + [("kernels/" + layer + "/", layer) for layer in KERNEL_LAYERS]
    + [("firmware/model/", "model"), ("firmware/", "firmware"), ("gst-plugins/", "gst"), ("tests/oracle/", "oracle")]
)


def layer_of(name):
    """Layer of a file, or None for tests, benchmarks and build files, which may use everything."""
    return next((layer for prefix, layer in PREFIXES if name.startswith(prefix)), None)


def resolve(header, quoted, includer, files):
    folders = ([posixpath.dirname(includer)] if quoted else []) + list(SEARCH_FOLDERS)
    paths = (posixpath.normpath(posixpath.join(folder, header)) for folder in folders)
    return next((path for path in paths if path in files), None)


def allowed(layer, target):
    return target == layer or target in MAY_USE[layer]


def check_includes(tree, name, layer, files):
    for number, line in enumerate(tree.text(name).splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header, quoted = match.group(2), match.group(1) == '"'
        if layer != "gst" and GLIB_HEADER.match(header):
            yield f"{name}:{number}: {layer} includes <{header}>: GLib stays in gst-plugins"
        if layer in FREESTANDING and HOSTED_HEADERS.match(header):
            yield f"{name}:{number}: {layer} includes <{header}>: this layer is freestanding"
        path = resolve(header, quoted, name, files)
        if path is None:
            if quoted or header.startswith("simaai/"):
                yield f"{name}:{number}: {header} is not found in the tree"
            continue
        target = layer_of(path)
        single = MAY_INCLUDE.get(layer, set()) | FILE_MAY_INCLUDE.get(name, set())
        if path not in single and not (target and allowed(layer, target)):
            yield f"{name}:{number}: {layer} may not use {target or 'tests'} ({path})"


def check_links(tree, name, layer):
    for number, line in enumerate(tree.text(name).splitlines(), 1):
        code = line.split("#", 1)[0]
        for target in re.findall(r"\bkernels_(\w+)_lib\b", code):
            if layer == "gst" or not allowed(layer, target):
                yield f"{name}:{number}: {layer} may not link {target}"
        if layer in ("gst", "oracle") and "kernels_internal_dep" in code:
            yield f"{name}:{number}: {layer} may not link internal symbols of the kernels"
        if layer == "oracle" and re.search(r"\b(kernels_dep|simaai_kernels)\b", code):
            yield f"{name}:{number}: the oracle may not link the kernels"
        if layer != "gst" and re.search(r"\b(gst|glib|gobject|gio)\w*_dep\b", code):
            yield f"{name}:{number}: {layer} may not link GLib or GStreamer"


def check_exceptions(tree, name):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), tree.text(name), flags=re.S)
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//", 1)[0]
        if re.search(r"\bthrow\b|\bcatch\s*\(|\btry\s*\{", code):
            yield f"{name}:{number}: no exceptions in this layer"


def check(tree):
    files = set(tree.files)
    for name in tree.files:
        layer = layer_of(name)
        if layer is None:
            continue
        if name.endswith((".h", ".cpp", ".c")):
            yield from check_includes(tree, name, layer, files)
            if layer not in ("gst", "oracle"):
                yield from check_exceptions(tree, name)
        elif name.endswith("meson.build"):
            yield from check_links(tree, name, layer)


MODEL = {"firmware/model/transport/model_transport.h": ""}
SPEC = {"kernels/include/simaai/kernels/tensor_spec.h": "", "kernels/include/simaai/kernels/status.h": "",
        "kernels/include/simaai/kernels/ops/cast.h": "", "kernels/core/numerics.h": "", "kernels/wire/head.h": ""}


def planted(name, text, word):
    return ({**SPEC, name: text}, word)


PLANTED = [
    planted("kernels/ops/cast.cpp", '#include <simaai/kernels/ops/cast.h>\n#include "core/numerics.h"\n// throw\n', ""),
    planted("gst-plugins/simaaicast/a.cpp", "#include <gst/gst.h>\n#include <simaai/kernels/ops/cast.h>\n", ""),
    planted("tests/oracle/a.cpp", "#include <simaai/kernels/tensor_spec.h>\n", ""),
    planted("tests/oracle/a.cpp", "#include <simaai/kernels/status.h>\n", "oracle may not use api"),
    planted("tests/oracle/a.cpp", '#include "../../kernels/core/numerics.h"\n', "oracle may not use core"),
    planted("kernels/core/a.h", '#include <simaai/kernels/ops/cast.h>\n', "core may not use ops"),
    planted("kernels/core/a.h", "#include <vector>\n", "freestanding"),
    planted("kernels/a65/cast/a.cpp", '#include "wire/head.h"\n', "a65 may not use wire"),
    planted("kernels/a65/cast/a.cpp", '#include "../../wire/head.h"\n', "a65 may not use wire"),
    planted("kernels/a65/cast/a.cpp", '#include "lost.h"\n', "not found"),
    planted("kernels/a65/cast/a.cpp", "#include <glib.h>\n", "GLib"),
    planted("kernels/a65/cast/a.cpp", "void f() { throw 1; }\n", "exceptions"),
    planted("firmware/cast/a.cpp", "#include <simaai/kernels/ops/cast.h>\n", "firmware may not use ops"),
    planted("gst-plugins/simaaicast/a.cpp", '#include "core/numerics.h"\n', "gst may not use core"),
    ({**MODEL, "gst-plugins/plugin.cpp": '#include "firmware/model/transport/model_transport.h"\n'}, ""),
    ({**MODEL, "gst-plugins/cast/a.cpp": '#include "firmware/model/transport/model_transport.h"\n'},
     "gst may not use model"),
    planted("gst-plugins/meson.build", "x = [kernels_internal_dep]\n", "internal symbols"),
    planted("kernels/ops/meson.build", "link_with: [kernels_a65_lib]\n", "ops may not link a65"),
    planted("kernels/ops/meson.build", "dependencies: [glib_dep]\n", "GLib"),
    planted("tests/oracle/meson.build", "dependencies: kernels_dep\n", "oracle may not link"),
]
