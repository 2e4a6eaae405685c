// What the agent tells, drawn once a second. Whatever comes from the network stands in textContent, never in markup.
"use strict";

const PERIOD_MS = 1000;
const PATIENCE_MS = 10000;
const DAY_MS = 60000;
// From here on calls suffer (ITU-T G.114, one way).
const CALLS_MS = 150;
// Less is next to nothing: as in verdict.rs.
const LOAD_BPS = 100e3;
const WAYS = ["down", "up"];
const SPANS = {
  seconds: { length: 120, step: 1, few: "" },
  minutes: { length: 86400, step: 60, few: "A point a minute: the first ones come within two minutes." },
  hours: { length: 7 * 86400, step: 3600, few: "A point an hour: the first ones come within two hours." },
};

const at = (id) => document.getElementById(id);
const state = { now: null, day: null, dayAt: 0, heardAt: 0 };

// Three digits of a value, with the largest of the units that leaves a whole number.
function scaled(value, units) {
  let unit = 0;
  while (value >= 999.5 && unit + 1 < units.length) {
    value /= 1000;
    unit += 1;
  }
  return [value < 9.95 ? value.toFixed(1) : value.toFixed(0), units[unit]];
}
const words = (parts) => parts.join("\u00a0");
// A number keeps its unit on its line.
const kept = (text) => text.replace(/(\d) (?=ms|s\b|%|min)/g, "$1\u00a0");
const delayParts = (us) => scaled(us / 1000, ["ms", "s"]);
const delay = (us) => (us === null || us === undefined ? "–" : words(delayParts(us)));
const rate = (bps) =>
  bps === null || bps === undefined ? "–" : bps < 50 ? "0" : words(scaled(bps / 1000, ["kbit/s", "Mbit/s", "Gbit/s"]));
const size = (bytes) => (bytes < 1000 ? `${bytes} B` : words(scaled(bytes / 1000, ["kB", "MB", "GB", "TB"])));

function share(part, whole) {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  return percent > 0 && percent < 1 ? "<1\u00a0%" : `${Math.round(percent)}\u00a0%`;
}

function duration(s) {
  if (s < 90) return `${Math.round(s)} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  const hours = Math.floor(s / 3600);
  return hours < 48 ? `${hours} h ${Math.floor((s % 3600) / 60)} min` : `${Math.floor(hours / 24)} days`;
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// What changes is put in place, so that what somebody reads or has opened stays.
function keyed(parent, items, keyOf, make, update, keepOrder) {
  const there = new Map(Array.from(parent.children, (child) => [child.dataset.key, child]));
  const wanted = new Set();
  items.forEach((item, place) => {
    const key = keyOf(item);
    wanted.add(key);
    let child = there.get(key);
    if (!child) {
      child = make(item);
      child.dataset.key = key;
      parent.append(child);
    }
    update(child, item);
    if (!keepOrder && parent.children[place] !== child) parent.insertBefore(child, parent.children[place]);
  });
  there.forEach((child, key) => {
    if (!wanted.has(key)) child.remove();
  });
}

// Parts of a whole, each as wide as it is large.
function split(bar, parts) {
  keyed(
    bar,
    parts.filter((part) => part.value > 0),
    (part) => part.key,
    () => element("i"),
    (child, part) => {
      child.className = part.className;
      child.style.flexGrow = part.value;
    },
  );
}

function showVerdict(now) {
  const { level, queue_us: queue, headline, lines } = now.verdict;
  at("verdict").dataset.level = level;
  const big = at("queue");
  if (queue === null) {
    setText(big, level === "idle" ? "none" : "unknown");
  } else {
    const [value, unit] = delayParts(queue);
    big.replaceChildren(document.createTextNode(value), element("small", "", `\u00a0${unit}`));
  }
  setText(at("headline"), headline);
  keyed(at("lines"), lines.map(kept), (line) => line, (line) => element("li", "", line), () => {});
  document.title = queue === null ? "Tidegate" : `${delay(queue)} · Tidegate`;
}

function showWays(now) {
  keyed(
    at("ways"),
    now.ways,
    (way) => way.direction,
    (way) => {
      const card = element("section", `card way-${way.direction}`);
      const head = element("h2");
      head.append(element("span", "", way.label), element("span", "rate"));
      card.append(head, element("p", "waits"), element("div", "split"), element("p", "note"));
      return card;
    },
    (card, way) => {
      setText(card.querySelector(".rate"), rate(way.rate_bps));
      const most = way.p95_us === null ? "" : `, 19 of 20 less than ${delay(way.p95_us)}`;
      const unknown = way.rate_bps < LOAD_BPS ? "Hardly anything goes" : "How long packets wait cannot be measured";
      const waits = way.queue_us === null ? unknown : `Packets wait ${delay(way.queue_us)}${most}`;
      setText(card.querySelector(".waits"), `${waits}; ${way.flows} ${way.flows === 1 ? "flow" : "flows"}.`);
      const parts = way.kinds.map((kind) => ({
        key: kind.name,
        value: kind.rate_bps,
        className: kind.steered && now.steers ? "steered" : "left",
      }));
      split(card.querySelector(".split"), parts);
      setText(card.querySelector(".note"), kinds(way, now.steers));
    },
  );
}

// What is steered of it, and what is not, in a line.
function kinds(way, steers) {
  const list = (steered) => {
    const of = way.kinds.filter((kind) => kind.steered === steered && kind.rate_bps > 0.005 * way.rate_bps);
    return of.map((kind) => `${kind.name} ${share(kind.rate_bps, way.rate_bps)}`).join(", ");
  };
  const [steered, left] = [list(true), list(false)];
  const verb = steers ? "Steered" : "Could be steered";
  if (!steered && !left) return "Nothing goes.";
  return [steered && `${verb}: ${steered}`, left && `left alone: ${left}`].filter(Boolean).join("; ");
}

function showDevices(now) {
  at("devices-card").hidden = now.devices.length === 0;
  const sum = (device) => device.rate_bps[0] + device.rate_bps[1];
  const most = Math.max(1, ...now.devices.map(sum));
  keyed(
    at("devices"),
    now.devices,
    (device) => device.name,
    () => {
      const item = element("li");
      const row = element("div", "row");
      row.append(element("b"), element("span", "numbers"));
      item.append(row, element("div", "bar"));
      return item;
    },
    (item, device) => {
      setText(item.querySelector("b"), device.name);
      const flows = device.flows === 1 ? "1 flow" : `${device.flows} flows`;
      const [down, up] = device.rate_bps;
      setText(item.querySelector(".numbers"), `down ${rate(down)}, up ${rate(up)}, ${flows}`);
      split(item.querySelector(".bar"), [
        { key: "down", value: down, className: "down" },
        { key: "up", value: up, className: "up" },
        { key: "rest", value: most - sum(device), className: "rest" },
      ]);
    },
  );
}

const STEERING = { steered: "steered", would: "would be steered", waits: "not yet", left: "left alone" };

function showFlows(now) {
  const body = at("flows").tBodies[0];
  const reads = body.querySelector("details[open]") !== null || at("flows").matches(":hover");
  keyed(
    body,
    now.flows,
    (flow) => `${flow.direction} ${flow.interface} ${flow.local} ${flow.remote}`,
    makeFlow,
    updateFlow,
    reads,
  );
  at("flows").hidden = now.flows.length === 0;
  const more = now.more_flows > 0 ? `and ${now.more_flows} more, slower ones` : "";
  setText(at("more"), now.flows.length === 0 ? "Nobody." : more);
}

function makeFlow() {
  const row = element("tr");
  const far = element("td", "far");
  far.append(element("span", "arrow"), element("span", "remote"));
  const steering = element("td", "steering");
  const details = element("details");
  const summary = element("summary");
  summary.append(element("span", "pill"), " ", element("span", "what"));
  details.append(summary, element("p"));
  steering.append(details);
  row.append(far, element("td", "here"));
  for (const label of ["Rate", "Waits", "Round trip"]) {
    const cell = element("td", "number");
    cell.dataset.label = label;
    row.append(cell);
  }
  row.append(steering);
  return row;
}

function updateFlow(row, flow) {
  const arrow = row.querySelector(".arrow");
  arrow.className = `arrow ${flow.direction}`;
  setText(arrow, flow.direction === "down" ? "↓" : "↑");
  arrow.setAttribute("role", "img");
  arrow.setAttribute("aria-label", flow.direction === "down" ? "download from" : "upload to");
  setText(row.querySelector(".remote"), flow.remote);
  setText(row.querySelector(".here"), flow.device === null ? flow.interface : flow.device);
  row.querySelector(".here").title = flow.local;
  const numbers = row.querySelectorAll(".number");
  [rate(flow.rate_bps), delay(flow.queue_us), delay(flow.rtt_us)].forEach((text, i) => setText(numbers[i], text));
  const pill = row.querySelector(".pill");
  pill.className = `pill ${flow.steering}`;
  setText(pill, STEERING[flow.steering]);
  setText(row.querySelector(".what"), flow.what);
  setText(row.querySelector("details p"), flow.why);
}

function chosen(name) {
  return document.querySelector(`input[name="${name}"]:checked`).value;
}

function showDone() {
  const name = chosen("sum");
  const from = name === "hour" ? state.now : state.day;
  const summary = from && from[name];
  if (!summary) return;
  const done = at("done");
  const quiet = summary.ways.length === 0;
  keyed(
    done,
    quiet ? [{ direction: "none" }] : summary.ways,
    (way) => way.direction,
    (way) => {
      const part = element("div");
      if (way.direction !== "none") part.append(element("h3"));
      part.append(element("p", "note"), element("ul", "bars"));
      return part;
    },
    (part, way) => {
      const note = part.querySelector(".note");
      if (quiet) {
        setText(note, "Nothing was carried yet.");
        return;
      }
      setText(part.querySelector("h3"), `${way.label}, ${duration(summary.elapsed_s)}: ${size(way.bytes)}`);
      setText(note, waited(way));
      keyed(part.querySelector(".bars"), way.parts, (kind) => kind.name, makePart, (item, kind) => updatePart(item, kind, way));
    },
  );
}

function waited(way) {
  const now =
    way.median_us === null
      ? "No packet's wait was measured."
      : `Half of the measured packets waited less than ${delay(way.median_us)}, 19 of 20 less than ${delay(way.p95_us)}.`;
  if (!way.compared) return now;
  const { pairs, with: steered, without } = way.compared;
  return `${now} In ${pairs} comparisons: ${delay(steered.median_us)} and ${delay(steered.p95_us)} with steering, ${delay(without.median_us)} and ${delay(without.p95_us)} without.`;
}

function makePart() {
  const item = element("li");
  const row = element("div", "row");
  const name = element("span");
  name.append(element("b"), " ", element("span", "pill"));
  row.append(name, element("span", "numbers"));
  item.append(row, element("div", "bar"), element("p", "why"));
  return item;
}

function updatePart(item, kind, way) {
  setText(item.querySelector("b"), kind.name);
  const pill = item.querySelector(".pill");
  pill.className = `pill ${kind.steered ? "steered" : "left"}`;
  setText(pill, kind.steered ? "steered" : "left alone");
  setText(item.querySelector(".numbers"), `${share(kind.bytes, way.bytes)}, ${size(kind.bytes)}`);
  setText(item.querySelector(".why"), kind.why);
  split(item.querySelector(".bar"), [
    { key: "it", value: kind.bytes, className: kind.steered ? "steered" : "left" },
    { key: "rest", value: way.bytes - kind.bytes, className: "rest" },
  ]);
}

// Charts. A sample is [age in s, unsteered, [median, p95] down, rate down, [median, p95] up, rate up].
const LEFT = 62;
const [RIGHT, TOP, BOTTOM] = [14, 12, 24];

function svg(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A round number, and how many steps of another make it.
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [0.2, 0.5, 1, 2, 2.5].map((factor) => factor * power).find((s) => s * 5 >= value) || 5 * power;
  const count = Math.max(2, Math.ceil(value / step - 1e-9));
  return { top: count * step, step, count };
}

function chart(node, samples, span, series) {
  const width = Math.max(240, node.clientWidth);
  const height = node.clientHeight;
  node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const highest = Math.max(series.least, ...samples.flatMap((sample) => WAYS.map((_, way) => series.high(sample, way) || 0)));
  const scale = ceiling(highest);
  const x = (age) => LEFT + (width - LEFT - RIGHT) * (1 - age / span.length);
  const y = (value) => height - BOTTOM - (height - TOP - BOTTOM) * (value / scale.top);
  const drawn = [];
  for (const run of unsteered(samples, span)) {
    const [left, right] = [x(Math.min(span.length, run.from)), x(run.to)];
    drawn.push(svg("rect", { class: "unsteered", x: left, y: TOP, width: Math.max(1, right - left), height: height - TOP - BOTTOM }));
  }
  for (let line = 0; line <= scale.count; line += 1) {
    const value = line * scale.step;
    drawn.push(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }));
    drawn.push(svg("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, series.label(value)));
  }
  if (series.limit && series.limit < scale.top) {
    drawn.push(svg("line", { class: "limit", x1: LEFT, x2: width - RIGHT, y1: y(series.limit), y2: y(series.limit) }));
    drawn.push(svg("text", { x: width - RIGHT, y: y(series.limit) - 4, "text-anchor": "end" }, series.limitSaid(width)));
  }
  for (const [age, text, anchor] of times(span, width)) {
    drawn.push(svg("text", { x: x(age), y: height - 6, "text-anchor": anchor }, text));
  }
  WAYS.forEach((name, way) => {
    for (const part of pieces(samples, span, (sample) => series.value(sample, way))) {
      const line = (of, from) => from.map((s, i) => `${i ? "L" : "M"}${x(s[0]).toFixed(1)} ${y(of(s, way)).toFixed(1)}`).join("");
      if (series.band) {
        const back = line(series.value, part.slice().reverse()).replace(/^M/, "L");
        drawn.push(svg("path", { class: `band ${name}`, d: `${line(series.high, part)}${back}Z` }));
      }
      const dot = part.length === 1 ? "h0.1" : "";
      drawn.push(svg("path", { class: `curve ${name}`, d: line(series.value, part) + dot }));
    }
  });
  if (node.cursor !== undefined && node.cursor !== null) {
    drawn.push(svg("line", { class: "cursor", x1: x(node.cursor), x2: x(node.cursor), y1: TOP, y2: height - BOTTOM }));
  }
  node.replaceChildren(...drawn);
  node.ageAt = (clientX) => {
    const inside = clientX - node.getBoundingClientRect().left - LEFT;
    return span.length * (1 - Math.min(1, Math.max(0, inside / (width - LEFT - RIGHT))));
  };
  node.setAttribute("aria-label", series.said(samples));
}

// Stretches of samples that have a value and follow one another.
function pieces(samples, span, value) {
  const all = [];
  let last = null;
  for (const sample of samples) {
    if (sample[0] > span.length || value(sample) === null) {
      last = null;
      continue;
    }
    if (last === null || last[0] - sample[0] > 3 * span.step) all.push([]);
    all[all.length - 1].push(sample);
    last = sample;
  }
  return all;
}

function unsteered(samples, span) {
  const runs = [];
  for (const sample of samples) {
    if (!sample[1] || sample[0] > span.length) continue;
    const last = runs[runs.length - 1];
    if (last && last.to - sample[0] <= 2 * span.step) last.to = sample[0];
    else runs.push({ from: sample[0] + span.step, to: sample[0] });
  }
  return runs;
}

// What stands below: how long ago, or what the clock showed here.
function times(span, width) {
  if (span.step === 1) {
    return [[120, "2 min ago", "start"], [60, "1 min ago", "middle"], [0, "now", "end"]];
  }
  const marks = [];
  const now = new Date();
  if (span.step === 3600) {
    // Midnights, each below it the day that begins.
    const mark = new Date(now);
    for (mark.setHours(0, 0, 0, 0); (now - mark) / 1000 < span.length - 20000; mark.setDate(mark.getDate() - 1)) {
      const age = (now - mark) / 1000;
      if (age > 20000) marks.push([age, mark.toLocaleDateString(undefined, { weekday: "short" }), "middle"]);
    }
    return marks;
  }
  const hours = width < 500 ? 6 : 3;
  const mark = new Date(now);
  mark.setMinutes(0, 0, 0);
  for (; now - mark < 86400000; mark.setHours(mark.getHours() - 1)) {
    const age = (now - mark) / 1000;
    if (mark.getHours() % hours === 0 && age < 84000 && age > 2400) {
      marks.push([age, `${String(mark.getHours()).padStart(2, "0")}:00`, "middle"]);
    }
  }
  return marks;
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

const QUEUE = {
  // The line where calls suffer is always there.
  least: 160,
  band: true,
  limit: CALLS_MS,
  limitSaid: (width) => (width < 500 ? "calls suffer: 150\u00a0ms" : "from here on calls suffer: 150\u00a0ms (ITU-T G.114)"),
  value: (sample, way) => (sample[2 + 2 * way][0] === null ? null : sample[2 + 2 * way][0] / 1000),
  high: (sample, way) => (sample[2 + 2 * way][1] === null ? null : sample[2 + 2 * way][1] / 1000),
  label: (ms) => (ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`),
  said: (samples) => {
    const each = WAYS.map((_, way) => {
      const known = samples.map((s) => QUEUE.value(s, way)).filter((value) => value !== null);
      const highest = Math.max(...samples.map((s) => QUEUE.high(s, way) || 0));
      const name = way ? "uploads" : "downloads";
      return known.length ? `${name} waited ${delay(1000 * median(known))} as a rule, at most ${delay(1000 * highest)}` : `nothing was measured of ${name}`;
    });
    return `Queueing delay over time: ${each.join("; ")}`;
  },
};

const RATE = {
  least: 1,
  band: false,
  value: (sample, way) => sample[3 + 2 * way] / 1e6,
  high: (sample, way) => sample[3 + 2 * way] / 1e6,
  label: (mbps) => (mbps >= 1000 ? `${mbps / 1000} Gb/s` : `${+mbps.toFixed(1)} Mb/s`),
  said: (samples) => {
    const most = WAYS.map((_, way) => Math.max(0, ...samples.map((s) => s[3 + 2 * way])));
    return `Rate over time: downloads at most ${rate(most[0])}, uploads at most ${rate(most[1])}`;
  },
};

function showCharts() {
  const name = chosen("span");
  const from = name === "seconds" ? state.now : state.day;
  const samples = from && from[name];
  if (!samples) return;
  chart(at("queue-chart"), samples, SPANS[name], QUEUE);
  chart(at("rate-chart"), samples, SPANS[name], RATE);
  at("compared-key").hidden = !samples.some((sample) => sample[1]);
  read(samples, SPANS[name]);
}

// What the curves say where the pointer is.
function read(samples, span) {
  const age = at("queue-chart").cursor;
  if (age === undefined || age === null) {
    setText(at("reading"), (samples.length < 2 && span.few) || "Point at a curve, or touch it, to read it.");
    return;
  }
  const near = samples.reduce((best, s) => (best && Math.abs(best[0] - age) <= Math.abs(s[0] - age) ? best : s), null);
  if (!near || Math.abs(near[0] - age) > 5 * span.step) {
    setText(at("reading"), "Nothing is known of that time.");
    return;
  }
  const moment = new Date(Date.now() - 1000 * near[0]);
  const clock = span.step < 3600 ? moment.toLocaleTimeString() : `${moment.toLocaleDateString(undefined, { weekday: "long" })}, the hour to ${moment.toLocaleTimeString()}`;
  const each = WAYS.map((_, way) => {
    const [half, most] = near[2 + 2 * way];
    const waits = half === null ? "no wait measured" : `waited ${delay(half)}, 19 of 20 less than ${delay(most)}`;
    return `${way ? "uploads" : "downloads"} ${rate(near[3 + 2 * way])}, ${waits}`;
  });
  setText(at("reading"), `${clock}: ${each.join("; ")}${near[1] ? " (not steered)" : ""}`);
}

function point(event) {
  const age = event.type === "pointerleave" ? null : event.currentTarget.ageAt ? event.currentTarget.ageAt(event.clientX) : null;
  for (const node of [at("queue-chart"), at("rate-chart")]) node.cursor = age;
  showCharts();
}

function show(now) {
  showVerdict(now);
  showWays(now);
  showDevices(now);
  showFlows(now);
  showDone();
  showCharts();
  setText(at("agent"), `Tidegate ${now.version}, ${now.agent}, for ${duration(now.up_s)}.`);
}

function showState() {
  const node = at("state");
  const silent = (performance.now() - state.heardAt) / 1000;
  const lost = silent > 5;
  node.className = `state ${lost ? "lost" : "live"}`;
  setText(node, lost ? `no answer for ${duration(silent)}` : "live");
}

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

async function look() {
  if (!document.hidden) {
    try {
      state.now = await ask("now.json");
      state.heardAt = performance.now();
      if (state.heardAt > state.dayAt) {
        state.day = await ask("day.json");
        state.dayAt = state.heardAt + (state.day.minutes.length < 3 ? DAY_MS / 6 : DAY_MS);
      }
      show(state.now);
    } catch (error) {
      // It is asked again, and how long it has been silent is said.
    }
    showState();
  }
  setTimeout(look, PERIOD_MS);
}

for (const input of document.querySelectorAll("input")) {
  input.addEventListener("change", () => {
    showCharts();
    showDone();
  });
}
for (const node of [at("queue-chart"), at("rate-chart")]) {
  node.addEventListener("pointermove", point);
  node.addEventListener("pointerdown", point);
  node.addEventListener("pointerleave", point);
}
new ResizeObserver(showCharts).observe(at("queue-chart"));
look();
