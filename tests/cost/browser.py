#!/usr/bin/env python3
"""The page of --emit=report in a browser without a network.

    browser.py SHDC             TAP; skipped where there is no chromium

Every part is there, nothing is said on the console, of each collective is told what avoids it, what is hidden behind other work is pale, a click on a step marks its line,
the arrow keys go from step to step and from row to row, Enter on a title sorts, and what is dark on the screen
is light on paper; a long command line makes the page no wider. Steps are told in the words of --emit=cost, kinds of memory in those of --emit=memory.
"""
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PARTS = ["step", "collectives", "timeline", "steps", "memory", "roofline", "placements", "torus"]
CUBE = "Chips of a slice (8x8x4); a layer of z beside the other. Thick: the busiest links. Dashed: they wrap around."
# name, words, parts, what is said of the critical path, is anything hidden, what is said of the slice
PROGRAMS = [
    ("transformer", ["samples/transformer.shd", "--versus-mesh=data=4,model=2"], PARTS + ["versus"], "transfers 18.1 us. Every step", False, None),
    ("llama", ["samples/published/llama.shd"], PARTS, "Every step is on it.", False, CUBE),
    ("sweep", ["samples/transformer.shd", "--sweep=data*model=8"], PARTS + ["sweep"], "transfers", False, None),
    ("one device", ["tests/cli/Inputs/add.shd"], PARTS, "compute ", False, None),
    ("control", ["tests/cost/control.shd", "--on=v5e"], PARTS, "Every step is on it.", False, None),
    ("beside", ["tests/cost/Inputs/beside.shd", "--overlap=async"], PARTS, "; beside it ", True, None),
    ("slice", ["tests/cost/timeline_hidden.shd"], PARTS, "Every step is on it.", False, "Chips of a slice (4x2). Thick: the busiest links."),
    ("overlap", ["tests/overlap/hidden.shd", "--overlap=async"], PARTS, "compute 69.6 us, transfers 25.6 us; beside it transfers 25.6 us.", True, None),
    ("pieces", ["tests/decompose/told_whole.shd", "--overlap=auto"], PARTS, "; beside it ", True, "Chips of a slice (2x4). Thick: the busiest links."),
]
# Runs behind the page's own script; what it finds becomes the title.
PROBE = """<script>
(() => {
  const found = [];
  const row = document.querySelector("#steps tbody tr");
  row.click();
  const line = document.querySelector(".source .pick");
  found.push(line && Number(line.dataset.line) === row.row.line ? "line" : "no line");
  const before = document.getElementById("picked").textContent;
  document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
  document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft", bubbles: true}));
  found.push(document.getElementById("picked").textContent ? "picked" : "nothing picked " + before);
  found.push([...document.querySelectorAll("canvas")].every(c => c.width > 0) ? "drawn" : "not drawn");
  const canvas = document.querySelector("#timeline canvas"), pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const rgb = name => [1, 3, 5].map(i => parseInt(colour(name).slice(i, i + 2), 16)), back = rgb("back");
  const pale = rgb("ici").map((c, i) => 0.4 * c + 0.6 * back[i]);
  let n = 0;
  for (let i = 0; i < pixels.length; i += 4) n += pixels[i + 3] === 255 && pale.every((c, k) => Math.abs(pixels[i + k] - c) < 3);
  found.push(n > 1000 ? "hidden" : "nothing hidden");
  row.focus();
  row.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown"}));
  const down = row.nextElementSibling || row;
  found.push(document.activeElement === down ? "next row" : "no next row");
  const head = document.querySelector("#steps th");
  head.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
  found.push(head.hasAttribute("aria-sort") ? "sorted" : "not sorted");
  const text = () => getComputedStyle(document.documentElement).getPropertyValue("--text").trim();
  const dark = text();
  window.dispatchEvent(new Event("beforeprint"));
  found.push(dark === "#e6edf3" && text() === "#1b1f24" ? "light paper" : dark + " printed " + text());
  const header = document.querySelector("header");
  header.style.width = "360px";
  document.getElementById("command").textContent = "x".repeat(200);
  found.push(header.scrollWidth <= 360 ? "fits" : "too wide");
  document.title = found.join(", ");
})();
</script>
"""


def visit(browser, page, directory):
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,2000",
         "--blink-settings=preferredColorScheme=0", "--enable-logging=stderr",
         "--user-data-dir=" + directory, "--proxy-server=127.0.0.1:1", "--virtual-time-budget=2000", "--dump-dom",
         "file://" + page], capture_output=True, text=True, timeout=120, check=False)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console


def main():
    shdc = os.path.abspath(sys.argv[1])
    browser = next((shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome") if shutil.which(name)), None)
    print("TAP version 13")
    if not browser:
        print("1..1\nok 1 - # SKIP no chromium")
        return 0
    failed = 0
    directory = tempfile.mkdtemp()
    for n, (name, words, parts, path, hidden, lies) in enumerate(PROGRAMS, 1):
        page = os.path.join(directory, "report.html")
        subprocess.run([shdc, "--emit=report=" + page, *words], cwd=ROOT, check=True)
        with open(page, encoding="utf-8") as source:
            text = source.read()
        with open(page, "w", encoding="utf-8") as out:
            out.write(text.replace("</body>", PROBE + "</body>"))
        dom, console = visit(browser, page, directory)
        wrong = [part for part in parts if '<section id="%s"' % part not in dom] + console
        cost, kinds = [subprocess.run([shdc, "--emit=" + kind, *[word for word in words if not re.match("--versus|--sweep", word)]],
                                      cwd=ROOT, check=True, capture_output=True, text=True).stdout for kind in ("cost", "memory")]
        memory = re.search(r"memory (\S+ \S+) (of \S+ \w+)", cost)
        wrong += ["not there, as --emit=cost has it: " + m for m in memory.groups() if ">%s<" % m not in dom]
        titles = re.findall(r"(?m)^  (\S.*?)  +(\S+ \w+)$", kinds)
        wrong += ["not in the legend, as --emit=memory has it: %s %s" % title for title in titles
                  if "</i>%s %s</span>" % title not in dom] + ["no kinds in --emit=memory"] * (not titles)
        moves = re.search(r'<section id="collectives".*?</section>', dom, re.S)[0]
        wrong += ["a collective without what avoids it"] * moves.count('<td class=""></td></tr>')
        slices = re.search(r'<p class="faint" id="slice">(.*?)</p>', dom)
        wrong += ["of the slice: %s" % (slices and slices[1])] * ((slices and slices[1]) != lies)
        if "sweep" in parts:
            table = subprocess.run([shdc, "--emit=cost", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout
            rows = [re.split("  +", line) for line in table.splitlines()[1:]]
            wrong += ["not in the table: %s" % row for row in rows
                      if not all(re.search("<t[dh][^>]*>%s</t[dh]>" % re.escape(cell), dom) for cell in row)]
        steps = re.findall(r"(?m)^ +(\d+)  (.+?)  +[\d.]+ [um]?s  ", cost)
        wrong += ["no step, as --emit=cost has it: line %s, %s" % step for step in steps
                  if '<td class="n">%s</td><td class="">%s</td>' % (step[0], html.escape(step[1], quote=False)) not in dom]
        wrong += ["no steps in --emit=cost"] * (not steps)
        wrong += ["not there: " + depends for depends in re.findall(r"\((loops whose.*)\)", cost) if depends not in dom]
        wrong += ["not said: " + branches for branches in re.findall(r"(?m)^  ((?:\d+ x )?if, line .*)$", cost) if branches not in dom]
        title = re.search(r"<title>(.*?)</title>", dom)
        said = re.search(r'<p id="critical">(.*?)</p>', dom)
        if not said or path not in said[1]:
            wrong.append("of the critical path: %s" % (said and said[1]))
        if not title or title[1] != "line, picked, drawn, %s, next row, sorted, light paper, fits" % ("hidden" if hidden else "nothing hidden"):
            wrong.append("the probe found: %s" % (title and title[1]))
        failed += bool(wrong)
        print("%sok %d - %s" % ("not " if wrong else "", n, name))
        for line in wrong:
            print("# " + line)
    print("1..%d" % len(PROGRAMS))
    shutil.rmtree(directory, ignore_errors=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
