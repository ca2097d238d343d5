# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/spec-coverage.md: every row has a statement, its place and a coverage, and every test it names exists."""
import re

PAGE = "docs/spec-coverage.md"
HEADER = ["statement", "document, section", "test"]
DOCUMENTS = ("casttess", "tess", "cast", "detesscast", "matrix")
NOT_TESTED = ("device only", "pending (EV74 firmware)")
TEST = re.compile(r"^\s*(TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)
INSTANCE = re.compile(r"^\s*INSTANTIATE_(?:TYPED_)?TEST_SUITE_P\(\s*\w+\s*,\s*(\w+)\s*[,)]", re.M)
REGISTERED = re.compile(r"^\s*REGISTER_TYPED_TEST_SUITE_P\(\s*(\w+)\s*,([^)]*)\)", re.M)
MESON_TEST = re.compile(r"^\s*test\(([^,]*)", re.M)
MESON_STRING = re.compile(r"'([^'\n]*)'")


def without_comments(text, mark):
    return re.sub(rf"^\s*{mark}.*$", "", text, flags=re.M)


def google_tests(tree):
    """Suite.Case of each test that runs: parametrised ones only with an instance, typed ones only if registered."""
    found, instances, registered = [], set(), set()
    for name in tree.sources(".cpp", ".h"):
        text = without_comments(tree.text(name), "//")
        found += TEST.findall(text)
        instances.update(INSTANCE.findall(text))
        for suite, cases in REGISTERED.findall(text):
            registered.update(f"{suite}.{case}" for case in re.findall(r"\w+", cases))
    names = set()
    for macro, suite, case in found:
        test = f"{suite}.{case}"
        if "DISABLED_" in test or (macro.endswith("_P") and suite not in instances):
            continue
        if macro != "TYPED_TEST_P" or test in registered:
            names.add(test)
    return names


def meson_tests(tree):
    """Patterns of the names of meson tests. A variable part is one of the words of the same file or an operation."""
    root = without_comments(tree.text("meson.build"), "#") if "meson.build" in tree.files else ""
    ops = re.search(r"^ops = \[(.*?)\]", root, re.M | re.S)
    patterns = []
    for name in tree.sources("meson.build"):
        text = without_comments(tree.text(name), "#")
        words = set(re.findall(r"'([\w.-]+)'", text + (ops.group(1) if ops else "")))
        variable = "(?:" + "|".join(sorted(map(re.escape, words))) + ")"
        for expression in MESON_TEST.findall(text):
            parts = re.split(r"\s*\+\s*", re.sub(r"\.format\(.*", "", expression).strip())
            pattern = ""
            for part in parts:
                string = MESON_STRING.fullmatch(part)
                pattern += (variable.join(map(re.escape, re.split(r"@\d@", string.group(1)))) if string
                            else variable)
            # A name that is nothing but a variable says too little to be checked.
            if any(MESON_STRING.fullmatch(part) for part in parts):
                patterns.append(re.compile(pattern))
    return patterns


def check_row(cells, google, meson):
    if len(cells) != len(HEADER) or not all(cells):
        yield f"a row has {len(HEADER)} filled cells, found {cells}"
        return
    document, _, section = cells[1].partition(", ")
    if document not in DOCUMENTS or not section:
        yield f"'{cells[1]}' is not one of {', '.join(DOCUMENTS)} and a section"
    if cells[2] in NOT_TESTED:
        return
    names = cells[2].split(", ")
    for name in names:
        quoted = re.fullmatch(r"`([\w.-]+)`", name)
        if not quoted:
            yield f"'{name}' is neither a test in backticks nor one of {', '.join(NOT_TESTED)}"
        elif quoted.group(1) not in google and not any(p.fullmatch(quoted.group(1)) for p in meson):
            yield f"there is no test {quoted.group(1)}"
    if len(set(names)) != len(names):
        yield "a test is named twice"


def check(tree):
    if PAGE not in tree.files:
        yield f"{PAGE}:1: the page is missing"
        return
    google, meson = google_tests(tree), meson_tests(tree)
    statements = {}
    for number, line in enumerate(tree.text(PAGE).splitlines(), 1):
        if not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells == HEADER or all(set(cell) <= set("-:") for cell in cells):
            continue
        for finding in check_row(cells, google, meson):
            yield f"{PAGE}:{number}: {finding}"
        statement = (cells[1].partition(",")[0] if len(cells) > 1 else "", cells[0])
        if statement in statements:
            yield f"{PAGE}:{number}: the statement of line {statements[statement]} again"
        statements[statement] = number
    for document in DOCUMENTS:
        if not any(document == covered for covered, _ in statements):
            yield f"{PAGE}:1: no row is about {document}"


def page(*tests, documents=DOCUMENTS):
    rows = [f"| statement {number} | {document}, Contract | device only |" for number, document in enumerate(documents)]
    rows += [f"| other {number} | cast, Contract | {test} |" for number, test in enumerate(tests)]
    return "\n".join(["| " + " | ".join(HEADER) + " |", "|---|---|---|", *rows, ""])


SOURCES = {
    "a.cpp": "TEST(Plain, Case) {}\nTEST_F(Fixed,\n       Long) {}\n// TEST(Plain, Comment)\nTEST(Plain, DISABLED_Off) {}\n"
             "TEST_P(Table, Row) {}\nTEST_P(Unused, Row) {}\nINSTANTIATE_TEST_SUITE_P(All, Table, rows());\n",
    "b.h": "TYPED_TEST_P(Typed, In) {}\nTYPED_TEST_P(Typed, Out) {}\nREGISTER_TYPED_TEST_SUITE_P(Typed,\n  In);\n",
    "c.cpp": "INSTANTIATE_TYPED_TEST_SUITE_P(Cast, Typed, Codec);\n",
    "meson.build": "ops = ['cast', 'tess']\n",
    "sub/meson.build": "test('whole', x)\nforeach op : ops\n  foreach level : ['scalar']\n"
                       "    test('a65_@0@_contract-@1@'.format(op, level), x)\n    test('ev74_' + op + '_contract', x)\n"
                       "  endforeach\nendforeach\n# test('comment', x)\n",
}


def planted(*tests, **other):
    return {**SOURCES, PAGE: page(*tests, **other)}


PLANTED = [
    (planted("`Plain.Case`", "`Fixed.Long`, `Table.Row`", "`Typed.In`", "`whole`", "`a65_tess_contract-scalar`",
             "`ev74_cast_contract`", "pending (EV74 firmware)"), ""),
    (SOURCES, "page is missing"),
    (planted("`Plain.Missing`"), "no test Plain.Missing"),
    (planted("`Plain.Case`, `Fixed.Missing`"), "no test Fixed.Missing"),
    (planted("`Plain.Comment`"), "no test Plain.Comment"),
    (planted("`Plain.DISABLED_Off`"), "no test Plain.DISABLED_Off"),
    (planted("`Unused.Row`"), "no test Unused.Row"),
    (planted("`Typed.Out`"), "no test Typed.Out"),
    (planted("`a65_conv_contract-scalar`"), "no test a65_conv"),
    (planted("`comment`"), "no test comment"),
    (planted("Plain.Case"), "neither a test"),
    (planted("later"), "neither a test"),
    (planted("`Plain.Case`, `Plain.Case`"), "twice"),
    (planted(""), "filled cells"),
    (planted(documents=("cast", "tess", "casttess", "matmul")), "not one of"),
    (planted(documents=("cast", "tess", "casttess")), "no row is about detesscast"),
    ({**SOURCES, PAGE: page() + "| statement 0 | casttess, Contract | device only |\n"}, "again"),
]
