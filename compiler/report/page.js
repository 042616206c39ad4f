"use strict";
// The report of a program: everything is drawn from the JSON in #data.
const D = JSON.parse(document.getElementById("data").textContent);
// What equal things share is there once.
const unfold = f => f.rows.map(([sort, ...own]) => ({...f.sorts[sort], ...Object.fromEntries(own.map((x, i) => [f.fields[i], x]))}));
for (const cost of [D.cost, D.versus && D.versus.cost]) if (cost) cost.ops = unfold(cost.ops);
D.cost.others = unfold(D.cost.others);
D.memory.buffers = unfold(D.memory.buffers);
D.values = Object.fromEntries(unfold(D.values).map(v => [v.name, v.type]));
const C = D.cost, ops = C.ops, M = D.memory;
const RESOURCES = {mxu: "matrix unit", vpu: "vector unit", hbm: "memory", ici: "links", dcn: "data-centre network", host: "host", latency: "latency"};
const NO_TIME = 5e-13;   // half of what is told of times
const moves = op => op.axes.length > 0;
// Of the time of the run: so steps add up to that.
const ofRun = op => moves(op) ? op.exposed_seconds : op.seconds;

// ---- words -----------------------------------------------------------------

const digits = x => x === 0 ? "0" : x >= 100 ? x.toFixed(0) : x >= 0.01 ? String(Number(x.toPrecision(3))) : x.toPrecision(2);
function scaled(x, units, base) {
  let i = 0;
  while (x >= base * 0.9995 && i < units.length - 1) { x /= base; i++; }
  return digits(x) + " " + units[i];
}
const time = s => s >= 1 ? digits(s) + " s" : s >= 1e-3 ? digits(s * 1e3) + " ms" : digits(s * 1e6) + " us";
const traffic = b => scaled(b, ["B", "kB", "MB", "GB", "TB"], 1000);
const memory = b => scaled(b, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
const count = x => x ? scaled(x, ["", "k", "M", "G", "T", "P"], 1000) : "";
const percent = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(part < 0.0995 * whole ? 1 : 0) + " %" : "";

// "3 x all-gather of W over X", "n x if": a step, or steps that are equal, in the words of --emit=cost.
function words(op) {
  const n = op.n || 1, named = op.one !== false && op.value in D.values;
  const times = op.trips === null ? (n > 1 ? n + " x " : "") + "n x " : n * op.trips !== 1 ? n * op.trips + " x " : "";
  return times + (moves(op) ? op.kind : op.what) + (named ? " of " + op.value : moves(op) ? " of " + op.what : "") + (moves(op) ? " over " + op.axes.join(", ") : "");
}

// ---- making elements ---------------------------------------------------------

function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value); else e.setAttribute(key, value);
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}
function svg(name, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  e.append(...children);
  return e;
}
function section(id, title, ...children) {
  const s = el("section", {id}, el("h2", {}, title), ...children);
  document.body.append(s);
  return s;
}
const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// columns: {title, value(row), show(row), number}; a click on a title sorts. sorted: by which column, or null for as they come.
function sortable(rows, columns, pick, sorted) {
  const body = el("tbody"), heads = columns.map((c, i) => el("th", {class: c.number ? "n" : "", tabindex: 0, onclick: () => order(i, true),
    onkeydown: e => { if (e.key === "Enter") order(i, true); }}, c.title));
  let by = -1, up = false;
  function order(i, toggle) {
    up = by === i && toggle ? !up : !columns[i].number;
    by = i;
    heads.forEach((head, k) => k === i ? head.setAttribute("aria-sort", up ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
    const value = columns[i].value;
    rows.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (up ? 1 : -1));
    fill();
  }
  function fill() {
    body.replaceChildren(...rows.map(row => {
      const tr = el("tr", pick ? {tabindex: 0, onclick: () => pick(row), onkeydown: e => {
        const next = {ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling"}[e.key];
        if (e.key === "Enter") pick(row);
        else if (next && tr[next]) { tr[next].focus(); e.preventDefault(); }
      }} : {},
        ...columns.map(c => el("td", {class: c.number ? "n" : ""}, c.show ? c.show(row) : String(c.value(row)))));
      tr.row = row;
      return tr;
    }));
  }
  if (sorted === null) fill(); else order(sorted, false);
  return el("div", {class: "scroll"}, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body));
}

// ---- what is picked ------------------------------------------------------------

let picked = null;
// Of a program in several files only one is shown.
const isShown = op => !op.file || op.file === D.source.path;
const redraws = [];
function scrollTo(number) {
  const line = document.querySelector('.source span[data-line="' + number + '"]');
  if (line) line.parentElement.scrollTop = line.offsetTop - line.parentElement.offsetTop - line.parentElement.clientHeight / 2;
}
function pick(op) {
  picked = op;
  for (const tr of document.querySelectorAll("tr")) tr.classList.toggle("pick", op !== null && tr.row === op);
  for (const line of document.querySelectorAll(".source span")) line.classList.toggle("pick", op !== null && isShown(op) && Number(line.dataset.line) === op.line);
  if (op && isShown(op)) scrollTo(op.line);
  document.getElementById("picked").textContent = op ? describe(op) : "Click a step, or use the arrow keys.";
  redraws.forEach(draw => draw());
}
function describe(op) {
  const parts = [(isShown(op) ? "line " : op.file + ":") + op.line + ": " + words(op), time(op.seconds), "bound by " + RESOURCES[op.bound]];
  if (op.exposed_seconds > 0) parts.push("exposed " + time(op.exposed_seconds));
  if (op.flops) parts.push(count(op.flops) + "FLOP");
  if (op.hbm_bytes) parts.push(traffic(op.hbm_bytes) + " of memory");
  if (op.wire_bytes) parts.push(traffic(op.wire_bytes) + " received");
  return parts.join(", ");
}

// ---- 1. header -------------------------------------------------------------------

function busiest() {
  const sums = {};
  for (const op of ops) sums[op.bound] = (sums[op.bound] || 0) + ofRun(op);
  return Object.entries(sums).sort((a, b) => b[1] - a[1])[0] || ["latency", 0];
}
function header() {
  const shape = C.topology ? " (" + (C.slices > 1 ? C.slices + " slices of " : "") + C.topology.join("x") + ")" : "";
  const byDevice = !C.topology && D.facts.devices_per_chip > 1, n = byDevice ? C.devices : C.chips;
  const axes = Object.entries(C.mesh).map(([name, n]) => name + "=" + n).join(" ");
  const [bound, seconds] = busiest();
  const card = (title, value, more) => el("div", {class: "card"}, el("span", {class: "faint"}, title), el("b", {}, value), more);
  document.body.append(el("header", {}, el("h1", {}, C.program + " on " + n + " " + C.target + (byDevice ? " device" : " chip") + (n === 1 ? "" : "s") + shape),
    el("div", {class: "faint"}, axes + "  " + D.source.path),
    el("div", {class: "faint"}, D.version + "  ", el("code", {id: "command"}, D.command)),
    el("div", {class: "cards"},
      card("one run", (C.ops.some(op => op.trips === null) ? "at least " : "") + time(C.seconds), (C.depends ? C.depends + "; lower bound of that " : "at least ") + time(C.lower_seconds) + ", one after the other " + time(C.serial_seconds)),
      card("of peak", percent(C.mfu, 1) || "0 %", count(C.flops) + "FLOP a device"),
      card("exposed", percent(C.exposed_seconds, C.seconds) || "0 %", time(C.exposed_seconds) + " of " + time(C.communication_seconds) + " communication"),
      card("memory", memory(C.memory_peak), "of " + memory(C.memory_limit) + (D.facts.devices_per_chip > 1 ? " a device" : "") + (C.memory_peak > C.memory_limit ? ": does not fit" : "")),
      card("bound by", RESOURCES[bound], percent(seconds, C.seconds) + " of the time"),
      C.tokens ? card("throughput", count(C.tokens_per_second) + "tokens/s", count(C.tokens) + "tokens a run") : null)));
}

// ---- 2. one bar --------------------------------------------------------------------

function stackedBar() {
  const sums = {};
  for (const op of ops) {
    const key = moves(op) ? "exposed " + op.kind + " over " + op.axes.join(",") : "computing, bound by " + RESOURCES[op.bound];
    sums[key] = sums[key] || {seconds: 0, bound: op.bound};
    sums[key].seconds += ofRun(op);
  }
  const parts = Object.entries(sums).filter(([, p]) => p.seconds > 0).sort((a, b) => b[1].seconds - a[1].seconds);
  section("step", "Where the time goes",
    el("div", {class: "bar"}, ...parts.map(([key, p]) => el("div", {title: key + ": " + time(p.seconds),
      style: "background: var(--" + p.bound + "); flex: " + Math.max(p.seconds, 1e-15) * 1e9 + " 0 0"}, key))),
    el("div", {class: "legend"}, ...parts.map(([key, p]) => el("span", {}, el("i", {style: "background: var(--" + p.bound + ")"}), key + " " + time(p.seconds) + ", " + percent(p.seconds, C.seconds)))));
}

// ---- the table of --sweep ------------------------------------------------------------

function sweep() {
  const S = D.sweep, show = {time, memory, traffic, count, share: x => percent(x, 1)};
  if (!S) return;
  S.rows.forEach((r, i) => r.mark = S.marks[i]);
  const columns = [...S.names.map(name => ({title: name, value: r => r[name]})),
    ...S.columns.map(c => ({title: c.title, number: true, value: r => r[c.name] === null ? Infinity : r[c.name], show: r => r[c.name] === null ? "" : show[c.unit](r[c.name])})),
    {title: "", value: r => r.error || r.mark}];
  const text = S.combinations + " combination" + (S.combinations === 1 ? "" : "s") + (S.can < S.combinations ? ", of which " + S.can + " can be" : "");
  section("sweep", "Other sizes", el("p", {class: "faint"}, text + (S.rows.length < S.combinations ? "; the first " + S.rows.length : "")), sortable(S.rows, columns, null, null));
}

// ---- 3. collectives ------------------------------------------------------------------

// The remark of a transfer: on its line, of its kind and axes, of what moves if that has a name;
// of a piece that of the whole.
function remarkOf(op) {
  const begin = ((op.whole || op.kind) + " over " + op.axes.join(",") + ":").replace(/ /g, "");
  const found = D.remarks.filter(r => r.line === op.line && r.message.replace(/ /g, "").startsWith(begin));
  return found.find(r => r.message.includes(": " + op.value + " [")) || found[0] || null;
}
function why(op) {
  const r = remarkOf(op);
  if (!r) return op.what;
  const labels = r.labels.map(l => l.text).filter(t => t);
  return labels.concat(r.notes.map(n => n.message || n.text || n).filter(t => typeof t === "string")).join("; ") || op.what;
}
function remedy(op) {
  const r = remarkOf(op);
  if (!r) return "";
  const asked = r.message.includes("asked for") ? ["asked for"] : [];
  return asked.concat(r.lines || [], (r.choices || []).map(c => c.text || c.edit || "")).join("; ").replace(/avoid it: ?/g, "") || "nothing was found to write otherwise";
}
// Equal ones of one line, as of unrolled layers, are a row; `one`: of one value.
function folded(list) {
  const rows = new Map();
  for (const op of list) {
    const key = [op.line, op.kind, op.axes, op.what, op.trips, op.seconds, op.flops, op.hbm_bytes, op.wire_bytes].join("|");
    const row = rows.get(key);
    if (!row) rows.set(key, {...op, n: 1, one: true, first: op});
    else { row.n++; row.one &&= op.value === row.value; for (const f of ["seconds", "exposed_seconds", "wire_bytes", "hbm_bytes", "flops"]) row[f] += op[f]; }
  }
  return [...rows.values()];
}
function collectives() {
  const rows = folded(ops.filter(moves));
  section("collectives", "Collectives", rows.length ? sortable(rows, [
    {title: "line", number: true, value: r => r.line},
    {title: "what", value: words},
    {title: "received", number: true, value: r => r.wire_bytes, show: r => traffic(r.wire_bytes)},
    {title: "time", number: true, value: r => r.seconds, show: r => time(r.seconds)},
    {title: "exposed", number: true, value: r => r.exposed_seconds, show: r => time(r.exposed_seconds)},
    {title: "why", value: r => why(r)},
    {title: "what avoids it", value: r => remedy(r)}], r => pick(r.first || r), 4) : el("p", {}, "Nothing moves between devices."));
}

// ---- 4. timeline ------------------------------------------------------------------------

function canvas(title, height, draw) {
  const c = el("canvas", {tabindex: 0, role: "img", "aria-label": title});
  const redraw = () => {
    const ratio = window.devicePixelRatio || 1, width = c.clientWidth || 1000;
    c.width = width * ratio; c.height = height * ratio; c.style.height = height + "px";
    const g = c.getContext("2d");
    g.scale(ratio, ratio);
    g.clearRect(0, 0, width, height);
    g.font = "11px system-ui, sans-serif";
    draw(g, width, height);
  };
  redraws.push(redraw);
  return c;
}
// Where something is computed: [begin, end], in order; of a loop all that follows its first trip.
function busyTimes(rests) {
  const busy = [], all = ops.filter(op => !moves(op)).map(op => [op.start, op.start + op.lasts]).concat(rests).sort((a, b) => a[0] - b[0]);
  for (const [begin, end] of all) {
    const last = busy[busy.length - 1];
    if (last && begin <= last[1] + NO_TIME) last[1] = Math.max(last[1], end); else busy.push([begin, end]);
  }
  return busy;
}
// A box for each step and track that it is on: its lane beside others of the same time, and what of it is hidden.
function boxesOf(rests, lanes) {
  const busy = busyTimes(rests), boxes = [];
  let i = 0;
  for (const op of ops) {
    const end = op.start + op.lasts, wholly = moves(op) && !op.exposed_seconds, hidden = wholly ? [[op.start, end]] : [];
    while (i < busy.length && busy[i][1] <= op.start) i++;
    for (let k = i; moves(op) && !wholly && k < busy.length && busy[k][0] < end - NO_TIME; k++)
      hidden.push([Math.max(busy[k][0], op.start), Math.min(busy[k][1], end)]);
    for (const track of op.links.length ? op.links.map(row => 1 + D.links.findIndex(l => l.row === row)) : [0]) {
      const free = lanes[track].findIndex(until => until <= op.start + NO_TIME), lane = free < 0 ? lanes[track].length : free;
      lanes[track][lane] = end;
      if (op.lasts > 0) boxes.push({op, track, lane, hidden});
    }
  }
  return boxes;
}
// "Critical path, outlined: 40 us in this order, of which compute 30 us, transfers 10 us; beside it transfers 5 us."
function criticalPath() {
  const sum = (critical, moving) => ops.filter(op => op.critical === critical && moves(op) === moving).reduce((n, op) => n + op.lasts * op.times, 0);
  const parts = critical => [["compute ", sum(critical, false)], ["transfers ", sum(critical, true)]].filter(p => p[1] > 0).map(p => p[0] + time(p[1])).join(", ");
  return "Critical path, outlined: " + time(sum(true, false) + sum(true, true)) + " in this order" + (parts(true) ? ", of which " + parts(true) : "") +
    (parts(false) ? "; beside it " + parts(false) + "." : ". Every step is on it.");
}
function timeline() {
  const names = ["compute", ...D.links.map(l => l.name)], lanes = names.map(() => []);
  const left = 14 + 6 * Math.max(...names.map(name => name.length));
  let from = 0, to = C.seconds || 1e-9, boxes = [];
  // A loop shows its first trip; the others follow it.
  const rests = [];
  for (let i = 0, end = 0; i <= ops.length; i++) {
    const start = i < ops.length ? ops[i].start : C.seconds, before = ops[i - 1];
    if (before && before.times > 1 && start > end * (1 + 1e-9)) rests.push([end, start, before.times - 1]);
    if (i < ops.length) end = Math.max(end, ops[i].start + ops[i].lasts);
  }
  if (rests.length) to = Math.min(C.seconds, rests[0][0] * 1.14);
  const all = boxesOf(rests, lanes);
  const tall = track => lanes[track].length > 1 ? 15 : 20, tops = [];
  let height = 24;
  names.forEach((_, track) => { tops.push(height); height += tall(track) * Math.max(1, lanes[track].length) + 6; });
  const c = canvas("timeline", height, (g, width) => {
    const x = t => left + (t - from) / (to - from) * (width - left - 6);
    boxes = [];
    const step = Math.pow(10, Math.floor(Math.log10((to - from) / 4))), n = Math.ceil((to - from) / step);
    const every = n > 20 ? 5 : n > 8 ? 2 : 1;
    for (let i = Math.ceil(from / step); i * step <= to; i++) if (i % every === 0) {
      g.fillStyle = colour("faint");
      if (x(i * step) + 50 < width) g.fillText(time(i * step), x(i * step) + 2, 11);
      g.fillStyle = colour("line");
      g.fillRect(x(i * step), 14, 1, height - 18);
    }
    g.fillStyle = colour("faint");
    names.forEach((name, i) => g.fillText(name, 4, tops[i] + 14));
    g.save(); g.beginPath(); g.rect(left, 0, width - left, height); g.clip();
    for (const [begin, end, trips] of rests) {
      g.fillStyle = colour("card");
      g.fillRect(x(begin), 22, x(end) - x(begin), height - 26);
      g.fillStyle = colour("faint");
      if (Math.min(x(end), width) - Math.max(x(begin), left) > 84) g.fillText(trips + " more trips", Math.max(x(begin), left) + 6, 38);
    }
    for (const {op, track, lane, hidden} of all) {
      const begin = x(op.start), end = x(op.start + op.lasts), w = Math.max(end - begin, 0.6);
      if (end < left || begin > width) continue;
      const h = tall(track) - (lanes[track].length > 1 ? 1 : 0), y = tops[track] + lane * tall(track);
      const fill = (name, alpha, a, b) => { g.globalAlpha = alpha; g.fillStyle = colour(name); g.fillRect(a, y, Math.max(b - a, 0.6), h); g.globalAlpha = 1; };
      fill(op.bound, 1, begin, w > 3 ? begin + w - 1 : begin + w);
      for (const [a, b] of hidden) { fill("back", 1, x(a), x(b)); fill(op.bound, 0.4, x(a), x(b)); }
      if (op.critical || op === picked) {
        g.strokeStyle = g.fillStyle = colour("text"); g.lineWidth = op === picked ? 3 : 1;
        if (w > 4) g.strokeRect(begin + 0.5, y + 0.5, w - 2, h - 1); else g.fillRect(begin, y + h - 1, w, op === picked ? 3 : 1);
      }
      if (w > 50) { g.fillStyle = colour(hidden.length && hidden[0][0] === op.start ? "text" : "ink"); g.fillText((moves(op) ? op.kind : op.what).slice(0, w / 6), begin + 3, y + h / 2 + 4); }
      boxes.push([begin, y, w, h, op]);
    }
    g.restore();
  });
  const hit = e => { const b = c.getBoundingClientRect(), px = e.clientX - b.left, py = e.clientY - b.top;
    const found = boxes.filter(([x, y, w, h]) => px >= x - 2 && px <= x + w + 2 && py >= y && py <= y + h); return found.length ? found[found.length - 1][4] : null; };
  c.addEventListener("click", e => { const op = hit(e); if (op) pick(op); });
  c.addEventListener("mousemove", e => { const op = hit(e); c.title = op ? describe(op) : ""; });
  const zoom = (factor, at) => { const middle = from + (to - from) * at; from = Math.max(0, middle - (middle - from) * factor); to = Math.min(C.seconds, middle + (to - middle) * factor);
    if (to - from < 1e-12) to = from + 1e-12; redraws.forEach(d => d()); };
  c.addEventListener("wheel", e => { if (!e.ctrlKey && !e.shiftKey) return; e.preventDefault(); const b = c.getBoundingClientRect(); zoom(e.deltaY > 0 ? 1.25 : 0.8, (e.clientX - b.left - left) / (b.width - left)); }, {passive: false});
  c.addEventListener("keydown", e => {
    const span = to - from;
    if (e.key === "+" || e.key === "=") zoom(0.6, 0.5);
    else if (e.key === "-") zoom(1 / 0.6, 0.5);
    else if (e.key === "0") { from = 0; to = C.seconds; redraws.forEach(d => d()); }
    else if (e.key === "PageDown") { const by = Math.min(span / 2, C.seconds - to); from += by; to += by; redraws.forEach(d => d()); }
    else if (e.key === "PageUp") { const by = Math.min(span / 2, from); from -= by; to -= by; redraws.forEach(d => d()); }
    else return;
    e.preventDefault();
  });
  section("timeline", "Timeline", c, el("p", {id: "critical"}, criticalPath()), el("p", {class: "faint"}, "One device; all are alike. A loop shows its first trip. Pale: hidden behind other work. ",
    "+ and - (or Ctrl and the wheel) zoom, PageUp and PageDown move, 0 shows all."), el("p", {id: "picked"}));
  document.addEventListener("keydown", e => {
    if (e.target.tagName === "TR" || (e.key !== "ArrowRight" && e.key !== "ArrowLeft") || !ops.length) return;
    const i = picked ? ops.indexOf(picked) : -1;
    pick(ops[Math.max(0, Math.min(ops.length - 1, i + (e.key === "ArrowRight" ? 1 : -1)))]);
    e.preventDefault();
  });
}

// ---- steps and source ------------------------------------------------------------------

function stepsAndSource() {
  const byLine = {};
  for (const op of ops.filter(isShown)) byLine[op.line] = (byLine[op.line] || 0) + ofRun(op);
  const most = Math.max(1e-15, ...Object.values(byLine));
  const source = el("div", {class: "scroll source"}, ...D.source.lines.map((text, i) => {
    const seconds = byLine[i + 1] || 0;
    return el("span", {"data-line": i + 1, title: seconds ? time(seconds) + ", " + percent(seconds, C.seconds) : "",
      onclick: () => { const op = ops.find(o => isShown(o) && o.line === i + 1); if (op) pick(op); }},
      el("b", {}, String(i + 1)), el("i", {}, el("em", {style: "width: " + Math.round(60 * seconds / most) + "px"})), text || " ");
  }));
  const columns = [
    {title: "line", number: true, value: r => r.line},
    {title: "what", value: words},
    {title: "time", number: true, value: r => r.seconds, show: r => time(r.seconds)},
    {title: "share", number: true, value: ofRun, show: r => percent(ofRun(r), C.seconds)},
    {title: "of peak", number: true, value: r => r.peak ? r.flops / r.peak / r.seconds : 0, show: r => r.peak ? percent(r.flops, r.peak * r.seconds) : ""},
    {title: "bound by", value: r => r.bound}];
  const steps = sortable(folded(ops.filter(op => op.lasts > 0)), columns, r => pick(r.first || r), 2);
  const parts = [el("div", {class: "two"}, source, steps)];
  if (C.ifs.length) parts.push(el("p", {id: "ifs"}, C.ifs.join(". ") + "."));
  if (C.others.length) parts.push(el("p", {class: "faint"}, "Steps of the branches that do not count, and are in no sum:"),
    sortable(folded(C.others.filter(op => op.lasts > 0)), columns.filter(c => c.title !== "share"), r => pick(r.first || r), 2));
  section("steps", "Steps, and where they are written", ...parts);
  const dearest = Object.keys(byLine).sort((a, b) => byLine[b] - byLine[a])[0];
  if (dearest) scrollTo(Number(dearest));
}

// ---- 5. memory ------------------------------------------------------------------------------

function memoryOverTime() {
  const steps = M.steps + 2, kinds = Object.keys(M.kinds), shades = ["mxu", "hbm", "vpu", "ici", "host", "dcn", "latency", "line"];
  const live = kinds.map(() => new Float64Array(steps + 1));
  for (const b of M.buffers) {
    const k = kinds.indexOf(b.kind);
    live[k][b.first + 1] += b.bytes;
    live[k][Math.min(b.last + 2, steps)] -= b.bytes;
  }
  live.forEach(l => { for (let i = 1; i < steps; i++) l[i] += l[i - 1]; });
  // What is no buffer: room for the step that needs most is always there, what is unused is known of the peak.
  live[kinds.indexOf("scratch")].fill(M.scratch);
  live[kinds.indexOf("unused")][M.at.step + 1] = M.kinds.unused;
  let at = M.at.step;
  const left = 8, height = 190, list = el("div");
  const c = canvas("memory over the program", height, (g, width) => {
    const x = i => left + i / steps * (width - left - 8), scale = (height - 24) / Math.max(M.peak, 1);
    for (let i = 0; i < steps; i++) {
      let y = height - 8;
      kinds.forEach((kind, k) => {
        const h = live[k][i] * scale;
        g.fillStyle = colour(shades[k % shades.length]);
        g.fillRect(x(i), y - h, Math.max(x(i + 1) - x(i), 0.7), h);
        y -= h;
      });
    }
    g.strokeStyle = colour("text");
    g.strokeRect(x(at + 1), 4, Math.max(x(1) - x(0), 1), height - 12);
    g.fillStyle = colour("text");
    g.fillText(memory(M.peak), left, 12);
  });
  const show = step => {
    at = Math.max(-1, Math.min(M.steps, step));
    const alive = M.buffers.filter(b => b.first <= at && b.last >= at);
    if (M.scratch) alive.push({bytes: M.scratch, name: "for the step that needs most", type: "", kind: "scratch", line: ""});
    list.replaceChildren(sortable(alive, [
      {title: "bytes", number: true, value: b => b.bytes, show: b => memory(b.bytes)},
      {title: "what", value: b => b.name + "  " + b.type}, {title: "kind", value: b => M.titles[b.kind]},
      {title: "line", number: true, value: b => b.line}], b => { const op = ops.find(o => o.line === b.line); if (op) pick(op); }, 0));
    redraws.forEach(d => d());
  };
  c.addEventListener("click", e => { const b = c.getBoundingClientRect(); show(Math.floor((e.clientX - b.left - left) / (b.width - left - 8) * steps) - 1); });
  c.addEventListener("keydown", e => { if (e.key === "ArrowRight" || e.key === "ArrowLeft") { show(at + (e.key === "ArrowRight" ? 1 : -1)); e.stopPropagation(); } });
  section("memory", "Memory over the program", c, el("div", {class: "legend"}, ...kinds.map((kind, k) => live[k].some(b => b > 0) ? el("span", {}, el("i", {style: "background: var(--" + shades[k % shades.length] + ")"}), M.titles[kind] + " " + memory(M.kinds[kind])) : null)),
    el("p", {class: "faint"}, "Most, " + memory(M.peak) + ", at line " + M.at.line + " (" + M.at.what + "). Inputs are " + M.inputs + ". A click shows what is alive there."), list);
  show(at);
}

// ---- 6. roofline ------------------------------------------------------------------------------

function roofline() {
  const points = ops.filter(op => op.flops > 0 && op.hbm_bytes > 0 && op.seconds > 0).map(op => ({op, x: op.flops / op.hbm_bytes, y: op.flops / op.seconds}));
  const peak = D.facts.bf16_flops, bandwidth = D.facts.hbm_bandwidth;
  if (!points.length) { section("roofline", "Roofline", el("p", {}, "Nothing is computed.")); return; }
  const w = 720, h = 320, left = 70, bottom = 36;
  const lowX = Math.min(0.1, ...points.map(p => p.x)), highX = Math.max(10 * peak / bandwidth, ...points.map(p => p.x));
  const lowY = Math.min(peak / 1e3, ...points.map(p => p.y)), highY = peak * 2;
  const px = x => left + Math.log(x / lowX) / Math.log(highX / lowX) * (w - left - 10);
  const py = y => h - bottom - Math.log(y / lowY) / Math.log(highY / lowY) * (h - bottom - 10);
  const clampY = y => Math.max(lowY, y), knee = peak / bandwidth;
  const s = svg("svg", {viewBox: "0 0 " + w + " " + h, style: "max-width: 760px; width: 100%", role: "img", "aria-label": "roofline"},
    svg("path", {d: "M" + px(lowX) + " " + py(clampY(lowX * bandwidth)) + "L" + px(knee) + " " + py(peak) + "L" + px(highX) + " " + py(peak), fill: "none", stroke: "currentColor", "stroke-width": 2}));
  const label = (x, y, text, anchor) => { const t = svg("text", {x, y, "font-size": 11, fill: "currentColor", "text-anchor": anchor || "middle"}); t.textContent = text; s.append(t); };
  for (let e = Math.ceil(Math.log10(lowX)); Math.pow(10, e) <= highX; e++) label(px(Math.pow(10, e)), h - bottom + 14, digits(Math.pow(10, e)));
  for (let e = Math.ceil(Math.log10(lowY)); Math.pow(10, e) <= highY; e++) label(left - 4, py(Math.pow(10, e)) + 4, count(Math.pow(10, e)), "end");
  label(w / 2, h - 6, "FLOP a byte of memory"); label(left + 4, 12, "FLOP/s", "start");
  label(px(knee), py(peak) - 6, "bf16 peak " + count(peak) + "FLOP/s, from " + digits(knee) + " FLOP/B");
  for (const p of folded(points.map(p => p.op)).map(op => ({op, x: op.flops / op.hbm_bytes, y: op.flops / op.seconds}))) {
    const c = svg("circle", {cx: px(p.x), cy: py(clampY(p.y)), r: Math.max(3, Math.min(12, 12 * Math.sqrt(p.op.seconds / C.seconds))), fill: "var(--" + p.op.bound + ")", "fill-opacity": 0.7, tabindex: 0, style: "cursor: pointer"});
    const title = svg("title"); title.textContent = describe(p.op); c.append(title);
    c.addEventListener("click", () => pick(p.op.first || p.op));
    c.addEventListener("keydown", e => { if (e.key === "Enter") pick(p.op.first || p.op); });
    s.append(c);
  }
  const bounds = Object.keys(RESOURCES).filter(bound => points.some(p => p.op.bound === bound));
  section("roofline", "Roofline", el("div", {class: "wide"}, s),
    el("div", {class: "legend"}, ...bounds.map(bound => el("span", {}, el("i", {style: "background: var(--" + bound + ")"}), "bound by " + RESOURCES[bound]))), el("p", {class: "faint"}, "A dot is a step, as large as its share of the time; the line is what " + C.target + " could do."));
}

// ---- 7. placements ----------------------------------------------------------------------------

// "8@X, 2048@(Y,Z:(1)2)" -> [{size, axes: [{name, pre, size}]}]
function dimsOf(type) {
  const inside = /\[(.*?)\]/.exec(type);
  if (!inside || !inside[1].trim()) return [];
  const out = [];
  let depth = 0, word = "";
  for (const ch of inside[1] + ",") {
    if (ch === "(") depth++;
    if (ch === ")") depth--;
    if (ch === "," && depth === 0) { out.push(word.trim()); word = ""; } else word += ch;
  }
  return out.map(text => {
    const [size, rest] = text.split("@");
    const axes = [...(rest || "").matchAll(/([A-Za-z_]\w*)(?::\((\d+)\)(\d+))?/g)].filter(m => m[1] !== "pad")
      .map(m => ({name: m[1], pre: Number(m[2] || 1), size: Number(m[3] || C.mesh[m[1]] || 1)}));
    return {size: parseInt(size, 10), axes};
  });
}
function placements() {
  const names = Object.keys(D.values), picture = el("div", {style: "overflow: auto"}), axes = Object.entries(C.mesh);
  const devices = axes.reduce((n, [, size]) => n * size, 1);
  const coordinate = (id, a) => { let stride = 1; for (let i = axes.length - 1; axes[i][0] !== a.name; i--) stride *= axes[i][1];
    const size = C.mesh[a.name]; return Math.floor(Math.floor(id / stride) % size / (size / (a.pre * a.size))) % a.size; };
  function draw(name) {
    const type = D.values[name], dims = dimsOf(type), split = dims.map(d => d.axes.reduce((n, a) => n * a.size, 1));
    const shown = dims.map((d, i) => i).filter(i => split[i] > 1).slice(-2);
    if (shown.length === 1 && shown[0] < dims.length - 1) shown.push(dims.length - 1);      // rows, one below the other
    const rows = shown.length > 1 ? split[shown[0]] : 1, columns = shown.length ? split[shown[shown.length - 1]] : 1;
    const cells = new Map();
    for (let id = 0; id < Math.min(devices, 4096); id++) {
      const at = shown.map(i => dims[i].axes.reduce((n, a) => n * a.size + coordinate(id, a), 0));
      const key = shown.length > 1 ? at[0] * columns + at[1] : at[0] || 0;
      cells.set(key, (cells.get(key) || []).concat(id));
    }
    const grid = el("div", {class: "grid", style: "grid-template-columns: repeat(" + Math.min(columns, 16) + ", auto)"});
    for (let r = 0; r < Math.min(rows, 16); r++) for (let q = 0; q < Math.min(columns, 16); q++) {
      const ids = cells.get(r * columns + q) || [], key = r * columns + q;
      grid.append(el("div", {style: "background: hsl(" + Math.round(360 * key / (rows * columns)) + " 60% 55% / 0.25)", title: "TPU " + ids.join(", ")},
        ids.length > 4 ? "TPU " + ids.slice(0, 3).join(",") + " ... (" + ids.length + ")" : "TPU " + ids.join(",")));
    }
    picture.replaceChildren(el("p", {}, el("b", {}, name), "  " + type + (split.some(n => n > 1) ? "" : ": whole on every device")), grid,
      split.filter(n => n > 1).length > 2 ? el("p", {class: "faint"}, "Of the last two dims that are split: devices of a cell hold different parts along the others.") : "",
      rows > 16 || columns > 16 ? el("p", {class: "faint"}, "The first 16 of " + rows + " x " + columns + " parts.") : "");
  }
  const table = sortable(names.map(name => ({name})), [{title: "value", value: r => r.name}, {title: "placement", value: r => D.values[r.name]}], r => draw(r.name), 0);
  section("placements", "Placements", el("div", {class: "two"}, table, picture));
  if (names.length) draw(names[0]);
}

// ---- 8. the torus -------------------------------------------------------------------------------

function torus() {
  const T = D.torus, loads = {};
  for (const op of ops) if (moves(op)) for (const a of op.axes) loads[a] = (loads[a] || 0) + op.seconds;
  const table = sortable(T.axes.map(a => ({...a, seconds: loads[a.name] || 0})), [
    {title: "axis", value: a => a.name}, {title: "size", number: true, value: a => a.size}, {title: "lies on", value: a => a.layout},
    {title: "links busy", number: true, value: a => a.seconds, show: a => time(a.seconds)}, {title: "share", number: true, value: a => a.seconds, show: a => percent(a.seconds, C.seconds)}], null, 3);
  const parts = [table];
  if (T.dims.length) {
    const [nx, ny, nz] = [T.dims[0], T.dims[1] || 1, T.dims[2] || 1], cell = Math.max(14, Math.min(44, 640 / (Math.min(nx, 16) + 1)));
    const most = Math.max(1e-15, ...T.links.map(l => l.seconds));
    const ink = d => { const l = T.links.find(l => l.dim === d), share = l ? l.seconds / most : 0; return {stroke: share > 0 ? "var(--ici)" : "var(--line)", "stroke-width": 1 + 5 * share}; };
    const w = Math.min(nx, 16), v = Math.min(ny, 16), layers = Math.min(nz, 4);
    const around = T.dims.map((n, d) => T.wraps[d] && n > 2), dashed = {"stroke-dasharray": "3 2"};
    const s = svg("svg", {viewBox: "-20 -20 " + ((w + 1) * cell * layers + 20) + " " + (v * cell + 40), style: "max-width: 100%; max-height: 420px", role: "img", "aria-label": "torus"});
    for (let z = 0; z < layers; z++) for (let x = 0; x < w; x++) for (let y = 0; y < v; y++) {
      const px = z * (w + 1) * cell + x * cell, py = y * cell;
      if (x + 1 < w) s.append(svg("line", {x1: px, y1: py, x2: px + cell, y2: py, ...ink("x")}));
      if (y + 1 < v) s.append(svg("line", {x1: px, y1: py, x2: px, y2: py + cell, ...ink("y")}));
      if (x + 1 === w && around[0]) s.append(svg("line", {x1: px, y1: py, x2: px + cell / 3, y2: py - 4, ...dashed, ...ink("x")}));
      if (y + 1 === v && around[1]) s.append(svg("line", {x1: px, y1: py, x2: px + 4, y2: py + cell / 3, ...dashed, ...ink("y")}));
      if (z + 1 < nz || around[2]) s.append(svg("line", {x1: px, y1: py, x2: px + cell / 3, y2: py + cell / 3, ...(z + 1 < nz ? {} : dashed), ...ink("z")}));
      s.append(svg("circle", {cx: px, cy: py, r: Math.min(6, cell / 5), fill: "var(--card)", stroke: "currentColor"}));
    }
    const said = ["Chips of a slice (" + T.dims.join("x") + (layers < nz || w < nx || v < ny ? ", a part of it" : "") + ")" + (layers > 1 ? "; a layer of z beside the other." : ".")];
    if (T.links.some(l => l.seconds > 0)) said.push("Thick: the busiest links.");
    if (around.some(wraps => wraps)) said.push("Dashed: they wrap around.");
    parts.push(s, el("p", {class: "faint", id: "slice"}, said.join(" ")));
  }
  section("torus", "How the mesh lies on the machine", ...parts);
}

// ---- 9. the difference ---------------------------------------------------------------------------

function versus() {
  const V = D.versus;
  if (!V) return;
  const A = C, B = V.cost, rows = [];
  const add = (what, a, b, show, better) => rows.push({what, a, b, show, better: better || 1});
  add("one run", A.seconds, B.seconds, time); add("at least", A.lower_seconds, B.lower_seconds, time);
  add("computing", A.compute_seconds, B.compute_seconds, time); add("communication", A.communication_seconds, B.communication_seconds, time);
  add("exposed", A.exposed_seconds, B.exposed_seconds, time); add("of peak", A.mfu, B.mfu, x => percent(x, 1) || "0 %", -1);
  add("memory", A.memory_peak, B.memory_peak, memory); add("received", A.wire_bytes, B.wire_bytes, traffic); add("FLOP a device", A.flops, B.flops, count);
  const same = r => r.a === r.b;
  const changed = r => {
    const share = Math.abs(100 * (r.b - r.a) / r.a).toFixed(1);
    return r.a ? (r.b > r.a ? "+" : "-") + (share === "0.0" ? r.show(Math.abs(r.b - r.a)) : share + " %") : "new";
  };
  const keyed = list => { const sums = {}; for (const op of list.filter(moves)) { const key = op.kind + " over " + op.axes.join(",") + " (line " + op.line + ")"; sums[key] = (sums[key] || 0) + op.seconds; } return sums; };
  const a = keyed(A.ops), b = keyed(B.ops);
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) if ((a[key] || 0) !== (b[key] || 0)) add(key, a[key] || 0, b[key] || 0, time);
  section("versus", "Against " + V.title, el("p", {class: "faint"}, "In all else as the command line has it."), el("div", {class: "scroll"}, el("table", {}, el("thead", {}, el("tr", {}, ...["", "this", V.title, "difference"].map((t, i) => el("th", {class: i ? "n" : ""}, t)))),
    el("tbody", {}, ...rows.map(r => el("tr", {}, el("td", {}, r.what), el("td", {class: "n"}, r.show(r.a) || "0"), el("td", {class: "n"}, r.show(r.b) || "0"),
      el("td", {class: "n " + (same(r) ? "" : (r.b < r.a) === (r.better > 0) ? "better" : "worse")}, same(r) ? "the same" : changed(r))))))));
}

header(); stackedBar(); versus(); sweep(); collectives(); timeline(); stepsAndSource(); memoryOverTime(); roofline(); placements(); torus();
pick(null);
redraws.forEach(draw => draw());
const redraw = () => redraws.forEach(draw => draw());
window.addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
// Paper is light.
window.addEventListener("beforeprint", () => { document.documentElement.classList.add("paper"); redraw(); });
window.addEventListener("afterprint", () => { document.documentElement.classList.remove("paper"); redraw(); });
