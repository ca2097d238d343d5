# SPDX-License-Identifier: LGPL-2.1-or-later
"""What users meet of the elements is in their documentation: every property, every caps field, and the text of every refusal."""
import re

PAGES = ("docs/gstreamer.md", "docs/gstreamer-video-npy.md", "docs/matrix.md")
FOLDER = "gst-plugins/"
OTHERS = ("gst-plugins/tools/", "gst-plugins/tracers/", "gst-plugins/examples/", "gst-plugins/lib/")
LITERAL = r'"(?:[^"\\]|\\.|"\s*")*"'
# Where the first words of a message stand.
MESSAGE = re.compile(
    r"(?:\breason\s*=|\bfail\(\s*(?:(?:self|trans),\s*)?(?:ErrorKind::\w+,)?|\breport_data\(|\breport_caps\(|\breport_once\(|"
    r"\breport\(|\bCapsError\{|\bPortError\{|\brefuse\()\s*(?:std::string\()?\s*(" + LITERAL + ")")
PROPERTY = re.compile(r"\b(?:g_param_spec_\w+|gst_param_spec_\w+)\(\s*\"([a-z0-9-]+)\"")
FIELD = re.compile(r"constexpr const char\* k\w+ = \"([a-z][a-z0-9-]+)\";")
SHORTEST = 10  # characters that say something; messages that begin with less are told apart by what follows


def flat(text):
    return re.sub(r"\s+", " ", re.sub(r"[`\\]", "", text))


def first_words(literal):
    return flat(re.sub(r'"\s*"', "", literal[1:-1]).replace('\\"', '"')).strip(" :;,'")


def check(tree):
    pages = flat(" ".join(tree.text(page) for page in PAGES if page in tree.files))
    for name in tree.sources(".cpp", ".h"):
        if not name.startswith(FOLDER) or name.startswith(OTHERS):
            continue
        text = tree.text(name)

        def line(match):
            return text.count("\n", 0, match.start(1)) + 1

        for match in MESSAGE.finditer(text):
            words = first_words(match.group(1))
            if len(words) >= SHORTEST and words not in pages:
                yield f"{name}:{line(match)}: the message '{words}' is on no page"
        for match in PROPERTY.finditer(text):
            if not re.search(rf"(?<![\w-]){match.group(1)}(?![\w-])", pages):
                yield f"{name}:{line(match)}: the property {match.group(1)} is on no page"
        if name.endswith("caps_spec.h"):
            for match in FIELD.finditer(text):
                if match.group(1) not in pages:
                    yield f"{name}:{line(match)}: the word {match.group(1)} of caps is on no page"


PAGE = {"docs/gstreamer.md": "**the buffer is\ntoo `short`**: longer ones. `min-buffers` and max. `tile-axes`\n"}
PLANTED = [
    ({**PAGE, "gst-plugins/cast/a.cpp": 'report.reason = "the buffer is "\n  "too short";\nf = g_param_spec_uint("min-buffers", "");\n',
      "gst-plugins/common/caps_spec.h": 'inline constexpr const char* kTileAxes = "tile-axes";\n',
      "gst-plugins/tools/a.cpp": 'fail("something of a tool");\n'}, ""),
    ({**PAGE, "gst-plugins/cast/a.cpp": 'return fail(ErrorKind::Data,\n  "the buffer is too long");\n'}, "too long"),
    ({**PAGE, "gst-plugins/cast/a.cpp": 'return CapsError{std::string("caps field of nobody")};\n'}, "of nobody"),
    ({**PAGE, "gst-plugins/cast/a.cpp": 'g_param_spec_uint(\n "buffers", "Buffers");\n'}, "property buffers"),
    ({**PAGE, "gst-plugins/common/caps_spec.h": 'inline constexpr const char* kX = "offset";\n'}, "word offset"),
]
