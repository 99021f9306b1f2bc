// A panel of a chart: axes and lines, drawn anew from the numbers whenever something changed.

// The page's own drawings have it; spelt out, it would look like an address that the page loads.
const NAMESPACE = document.querySelector("svg")?.namespaceURI;
const MARGIN = { left: 54, right: 20, top: 10, bottom: 40 };
const MARKERS = 5;

function element(parent, tag, attributes = {}, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  parent.append(made);
  return made;
}

function shape(parent, tag, attributes, text = "") {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  parent.append(made);
  return made;
}

/** The columns of a line that a view shows, the one to read first, each with how it is drawn. */
function strokesOf(line, view) {
  if (view === "runs") return line.runs.map((y) => ({ y, width: 0.8, opacity: 0.5 }));
  if (view === "middle") return [{ y: line.middle, width: 1.7, opacity: 1 }];
  const outer = { width: 1, opacity: 0.6 };
  return [{ y: line.median, width: 2, opacity: 1 }, { y: line.low, ...outer }, { y: line.high, ...outer }];
}

function colourOf(chart, line) {
  return chart.state.view === "runs" ? line.runColour : line.colour;
}

/** What is seen of the axes: where somebody zoomed to, or everything. */
function windowOf(chart) {
  const { numbers, state } = chart;
  const x = state.log ? [chart.firstMark, numbers.xRange[1]] : numbers.xRange;
  const y = state.view === "runs" ? numbers.runsRange : numbers.yRange;
  return { all: { x, y }, seen: { x: state.x ?? x, y: state.y ?? y } };
}

/** What the lines of a view are. */
function keyOf(chart) {
  if (chart.state.view === "middle") return chart.numbers.key;
  if (chart.state.view === "quantiles") return "thick: median of the runs   thin: their 10 % and 90 %";
  const most = Math.max(...chart.ranked.map((line) => line.runs.length));
  return `the first ${most} runs of each line   beside the names: the mean of all`;
}

function widthOf(panel) {
  return Math.max(panel.box.clientWidth, 160);
}

function drawPanel(chart, panel) {
  panel.key.textContent = [panel.title, chart.numbers.y, keyOf(chart)].filter(Boolean).join("   ·   ");
  const width = widthOf(panel);
  panel.width = width;
  const height = width < 480 ? 300 : 370;
  const inside = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const { all, seen } = windowOf(chart);
  panel.kinds = { x: chart.state.log ? "log" : "linear", y: chart.numbers.scale };
  panel.xs = scaleOf(SHAPES[panel.kinds.x](all.x), seen.x, [0, inside.width]);
  panel.ys = scaleOf(SHAPES[panel.kinds.y](all.y), seen.y, [inside.height, 0]);
  panel.inside = inside;
  panel.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  panel.svg.setAttribute("height", height);
  panel.svg.replaceChildren();
  drawAxes(chart, panel, seen, height);
  // An SVG in an SVG clips what is outside of it.
  const at = { x: MARGIN.left, y: MARGIN.top, ...inside };
  panel.area = shape(panel.svg, "svg", { class: "area", ...at });
  shape(panel.area, "rect", { ...inside, fill: "none", "pointer-events": "all" });
  drawLevels(chart, panel);
  const lines = panel.lines.filter((line) => !chart.state.hidden.has(line.label));
  for (const line of lines) drawLine(chart, panel, line, lines.length);
  drawLevelNames(chart, panel, lines);
  panel.over = shape(panel.area, "g", { class: "over" });
}

function drawAxes(chart, panel, seen, height) {
  const { width, height: tall } = panel.inside;
  const axes = shape(panel.svg, "g", { class: "axes", transform: `translate(${MARGIN.left} ${MARGIN.top})` });
  for (const { value, text } of ticksOf(panel.kinds.y, seen.y, Math.round(tall / 45))) {
    const y = panel.ys.place(value);
    shape(axes, "path", { class: "rule", d: `M0 ${y}h${width}` });
    shape(axes, "text", { class: "y tick", x: -7, y: y + 4 }, text);
  }
  const { xNames } = chart.numbers;
  const below = xNames
    ? namedTicks(xNames, seen.x, Math.round(width / 34))
    : ticksOf(panel.kinds.x, seen.x, Math.max(2, Math.round(width / 90)));
  for (const { value, text } of below) {
    const x = panel.xs.place(value);
    shape(axes, "path", { class: "mark", d: `M${x} ${tall}v4` });
    shape(axes, "text", { class: "x tick", x, y: tall + 17 }, text);
  }
  shape(axes, "path", { class: "mark", d: `M0 0V${tall}H${width}` });
  shape(axes, "text", { class: "x name", x: width / 2, y: height - MARGIN.top - 5 }, chart.numbers.x);
}

function drawLevels(chart, panel) {
  const { width } = panel.inside;
  const from = chart.numbers.shadeFrom;
  if (from !== null) shape(panel.area, "rect", { class: "shade", width, height: Math.max(0, panel.ys.place(from)) });
  for (const { place } of levelsIn(panel)) shape(panel.area, "path", { class: "level", d: `M0 ${place}H${width}` });
}

/** On the side of the level with less in the way, on top of the lines, one below the other where levels are near. */
function drawLevelNames(chart, panel, lines) {
  const x = panel.inside.width - 4;
  let free = -Infinity;
  for (const { label, place } of levelsIn(panel)) {
    const inTheWay = (y) => pointsNear(chart, panel, lines, x - 7 * label.length, y);
    const low = place + 12 > panel.inside.height;
    const above = place >= 16 && (low || inTheWay(place - 4) <= inTheWay(place + 12));
    const y = Math.max(above ? place - 4 : place + 12, free);
    shape(panel.area, "text", { class: "level", x, y }, label);
    free = y + 12;
  }
}

/** How many points of lines lie where a name would stand, from `left` to the edge and on the height y. */
function pointsNear(chart, panel, lines, left, y) {
  const pointsOf = (at, values) => values.map((value, i) => [panel.xs.place(at[i]), panel.ys.place(value)]);
  const of = (line) => strokesOf(line, chart.state.view).flatMap((stroke) => pointsOf(line.at, stroke.y));
  const points = lines.flatMap(of);
  return points.filter(([at, height]) => at >= left && y - 12 <= height && height <= y + 3).length;
}

/** The levels that the window shows, and where, from the top. */
function levelsIn(panel) {
  const placed = panel.levels.map(({ label, y }) => ({ label, place: panel.ys.place(y) }));
  return placed.filter(({ place }) => 0 <= place && place <= panel.inside.height).sort((a, b) => a.place - b.place);
}

function drawLine(chart, panel, line, count) {
  const { view, lit } = chart.state;
  const dim = lit !== null && lit !== line.label ? " dim" : "";
  const how = { class: `line${dim}`, "data-label": line.label, stroke: colourOf(chart, line) };
  const group = shape(panel.area, "g", how);
  if (view === "middle") drawBand(panel, group, line, 0.25 / count ** chart.numbers.fade);
  for (const { y, width, opacity } of strokesOf(line, view).reverse()) {
    const dashes = view === "runs" ? "" : line.dashes.join(" ");
    const pen = { "stroke-width": width, "stroke-opacity": opacity, "stroke-dasharray": dashes, fill: "none" };
    shape(group, "path", { d: pathOf(panel, line.at, y), ...pen });
  }
  if (view !== "runs" && line.marker) drawMarkers(panel, group, line, strokesOf(line, view)[0].y);
}

function drawBand(panel, group, line, opacity) {
  const back = pathOf(panel, line.at.toReversed(), line.low.toReversed()).replace("M", "L");
  const d = `${pathOf(panel, line.at, line.high)}${back}z`;
  shape(group, "path", { d, fill: line.colour, "fill-opacity": opacity, stroke: "none" });
}

/** Some markers, those of neighbouring lines far apart: steps of the golden ratio. */
function drawMarkers(panel, group, line, y) {
  const every = Math.max(1, Math.floor(line.at.length / MARKERS));
  for (let i = Math.floor(((0.618 * line.index) % 1) * every); i < y.length; i += every) {
    const place = `translate(${panel.xs.place(line.at[i])} ${panel.ys.place(y[i])}) scale(3)`;
    shape(group, "path", { class: "marker", d: line.marker, transform: place });
  }
}

/** Points that a logarithm does not have are left out. */
function pathOf(panel, at, y) {
  const points = [];
  for (let i = 0; i < at.length; i++) {
    const place = [panel.xs.place(at[i]), panel.ys.place(y[i])];
    if (place.every(Number.isFinite)) points.push(`${place[0].toFixed(1)} ${place[1].toFixed(1)}`);
  }
  return points.length === 1 ? `M${points[0]}h.1` : points.length ? `M${points.join("L")}` : "";
}
