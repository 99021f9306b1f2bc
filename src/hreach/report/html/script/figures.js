// Each figure that has its numbers beside it becomes a chart; its drawing stays, for paper.

/** Change what is shown; the only place where a chart's state is replaced. */
function change(chart, changes) {
  chart.state = { ...chart.state, ...changes };
  draw(chart);
}

function draw(chart) {
  for (const panel of chart.panels) drawPanel(chart, panel);
  showState(chart);
  stopReading(chart);
}

/** Lines with their numbers unpacked. */
function linesOf(panel, numbers) {
  const { unit, xUnit } = numbers;
  return panel.lines.map((line, index) => {
    const columns = ["middle", "low", "high", "median"].filter((name) => line[name]);
    const values = Object.fromEntries(columns.map((name) => [name, unpacked(line[name], unit)]));
    const runs = line.runs?.map((run) => unpacked(run, runsUnit(numbers)));
    return { ...line, index, at: unpacked(line.at, xUnit), ...values, runs };
  });
}

/** Browsers also report a first size, which was drawn already. */
function drawIfResized(chart) {
  if (chart.panels.some((panel) => panel.width !== widthOf(panel))) draw(chart);
}

function ranked(numbers, lines) {
  const unique = [...new Map(lines.map((line) => [line.label, line])).values()];
  const height = ({ middle }) => (numbers.rank === "area" ? middle.reduce((a, b) => a + b) : middle.at(-1));
  return unique.sort((a, b) => height(b) - height(a));
}

function viewsOf(lines) {
  const has = (name) => lines.every((line) => line[name]);
  return ["middle", ...(has("median") ? ["quantiles"] : []), ...(has("runs") ? ["runs"] : [])];
}

function enliven(figure, numbers) {
  const live = element(figure, "div", { class: "live" });
  figure.prepend(live);
  const chart = { numbers, reading: null };
  chart.state = { view: "middle", log: false, x: null, y: null, hidden: new Set(), lit: null };
  const unpackedPanels = numbers.panels.map((panel) => ({ ...panel, lines: linesOf(panel, numbers) }));
  const lines = unpackedPanels.flatMap((panel) => panel.lines);
  chart.firstMark = Math.min(...lines.flatMap((line) => line.at.filter((at) => at > 0)));
  chart.views = viewsOf(lines);
  chart.ranked = ranked(numbers, lines);
  element(live, "p", { class: "title" }, numbers.title);
  chart.controls = addControls(chart, live);
  const body = element(live, "div", { class: "body" });
  const places = element(body, "div", { class: "panels" });
  chart.panels = unpackedPanels.map((panel) => addPanel(chart, places, panel, figure));
  chart.legend = addLegend(chart, body);
  for (const panel of chart.panels) listen(chart, panel);
  draw(chart);
  figure.classList.add("enlivened"); // Not before all is drawn: a browser that cannot still has the drawing.
  new ResizeObserver(() => drawIfResized(chart)).observe(places);
}

function addPanel(chart, parent, panel, figure) {
  const box = element(parent, "div", { class: "panel" });
  const key = element(box, "p", { class: "y" });
  const frame = element(box, "div", { class: "frame" });
  const spoken = figure.querySelector(".still svg").getAttribute("aria-label");
  const keys = "Arrow keys read values; plus, minus and 0 zoom.";
  const about = { class: "chart", tabindex: 0, role: "application", "aria-label": `${spoken} ${keys}` };
  const svg = shape(frame, "svg", about);
  const tip = element(frame, "output", { class: "tip", hidden: "" });
  return { ...panel, key, box: frame, svg, tip };
}

for (const script of document.querySelectorAll('figure > script[type="application/json"]')) {
  enliven(script.parentElement, JSON.parse(script.textContent));
}
