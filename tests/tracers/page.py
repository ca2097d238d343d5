#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The HTML page in Chromium: every figure has a size, nothing sticks out, no console message, light and dark.

usage: page.py PROGRAM [FOLDER FOR SCREENSHOTS]
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PIPELINE = ("videotestsrc num-buffers=130 ! video/x-raw,format=BGRx,width=320,height=240 ! videoconvert name=convert "
            "! video/x-raw,format=RGB ! queue name=store ! simaaivideototensor name=totensor "
            "! application/vnd.simaai.tensor,dtype=float32 ! simaaicasttess name=casttess backend=ev74 device=model: async-depth=4 "
            "! simaaidetesscast name=detesscast backend=a65 ! simaaitensortovideo name=tovideo ! fakesink name=screen")
# Appended to a copy of the page; it reports through the console, which is where errors would be too.
PROBE = """<script>addEventListener('load',()=>{
const boxes=[...document.querySelectorAll('svg')].map(s=>s.getBoundingClientRect());
const parts=['work','queued','device','retirement','wait'].map(p=>[...document.querySelectorAll('rect.'+p)].length);
const texts=[...document.querySelectorAll('svg text')].map(t=>t.getBoundingClientRect().height);
console.log('PROBE '+JSON.stringify({figures:boxes.map(b=>[b.width,b.height]),smallest:Math.min(...texts),parts,
page:document.documentElement.scrollWidth,window:innerWidth,paper:getComputedStyle(document.body).backgroundColor}))})
</script>"""


def browse(browser, folder, page, width, dark, picture):
    # A frame of the wanted width: windows of a browser have a least width of their own.
    (folder / "frame.html").write_text(
        "<!DOCTYPE html><style>body{margin:0}iframe{border:0;display:block}</style>"
        f"<iframe src='{page.name}' width={width} height=2600></iframe>")
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
               "--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}",
               f"--window-size={max(width, 500)},2600", f"--screenshot={picture}", "--timeout=20000",
               f"--blink-settings=preferredColorScheme={0 if dark else 1}", (folder / "frame.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    lines = re.findall(r'CONSOLE[^"]*"(.*)", source', done.stderr)
    probes = [line for line in lines if line.startswith("PROBE ")]
    if not probes:
        sys.exit(f"the page did not load:\n{done.stderr[-2000:]}")
    others = [line for line in lines if not line.startswith("PROBE ")]
    return json.loads(probes[0].removeprefix("PROBE ")), others


def main():
    program, browser = sys.argv[1], shutil.which("chromium")
    if not browser:
        print("chromium is not installed")
        sys.exit(77)
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page = folder / "page.html"
        subprocess.run([program, "--quiet", "--html", page, PIPELINE], check=True, timeout=100)
        page.write_text(page.read_text() + PROBE)
        papers = set()
        for width in (1280, 390):
            for dark in (False, True):
                what = f"{width} {'dark' if dark else 'light'}"
                picture = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else name) / f"{what.replace(' ', '-')}.png"
                found, others = browse(browser, folder, page, width, dark, picture)
                print(what, found)
                papers.add(found["paper"])
                if others:
                    failures.append(f"{what}: console: {others}")
                if len(found["figures"]) != 6 or any(w < 300 or h < 40 for w, h in found["figures"]):
                    failures.append(f"{what}: figures: {found['figures']}")
                if min(found["parts"][:4]) < 4:
                    failures.append(f"{what}: parts of the stages: {found['parts']}")
                if found["smallest"] < 9:
                    failures.append(f"{what}: text is only {found['smallest']} pixels high")
                if found["window"] != width or found["page"] > width:
                    failures.append(f"{what}: the page is {found['page']} wide")
                if not picture.exists():
                    failures.append(f"{what}: no picture")
        if len(papers) != 2:
            failures.append(f"light and dark have the same paper: {papers}")
    print("\n".join(failures) or "ok")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
