// Reading values: at the pointer, or with the arrow keys.

/** What is nearest to a place: of all visible lines the point at the nearest mark, {line, mark, column, distance}. */
function nearest(chart, panel, x, y) {
  let found = null;
  for (const line of visibleLines(chart, panel)) {
    const mark = nearestMark(panel, line, x);
    strokesOf(line, chart.state.view).forEach((stroke, column) => {
      if (chart.state.view === "quantiles" && column > 0) return;
      const distance = Math.abs(panel.ys.place(stroke.y[mark]) - y);
      if (found === null || distance < found.distance) found = { line, mark, column, distance };
    });
  }
  return found;
}

function visibleLines(chart, panel) {
  return panel.lines.filter((line) => !chart.state.hidden.has(line.label));
}

function nearestMark(panel, line, x) {
  const distances = line.at.map((at) => Math.abs(panel.xs.place(at) - x));
  return distances.indexOf(Math.min(...distances));
}

/** Show a point: a guide, a dot, its numbers beside it, and the numbers of the other lines there in the legend. */
function read(chart, panel, found) {
  chart.reading = { panel, ...found };
  const { line, mark, column } = found;
  const x = panel.xs.place(line.at[mark]);
  const y = panel.ys.place(strokesOf(line, chart.state.view)[column].y[mark]);
  panel.over.replaceChildren();
  shape(panel.over, "path", { class: "guide", d: `M${x} 0V${panel.inside.height}` });
  shape(panel.over, "circle", { cx: x, cy: y, r: 4.5, fill: colourOf(chart, line), class: "dot" });
  fillTip(chart, panel, found);
  placeTip(panel, x, y);
  for (const other of panel.lines) {
    const value = other.at.length ? mainColumn(chart, other)[nearestMark(panel, other, x)] : null;
    chart.legend.get(other.label).value.textContent = written(value, chart.numbers.unit);
  }
}

/** The column that stands for a line in the legend. */
function mainColumn(chart, line) {
  return chart.state.view === "quantiles" ? line.median : line.middle;
}

function fillTip(chart, panel, { line, mark, column }) {
  const { numbers, state } = chart;
  const text = (value) => written(value, numbers.unit);
  panel.tip.replaceChildren();
  element(panel.tip, "b", {}, line.label);
  const where = numbers.xNames?.[line.at[mark]] ?? written(line.at[mark], numbers.xUnit);
  element(panel.tip, "span", {}, `${numbers.x} ${where}`);
  if (state.view === "runs") {
    const value = written(line.runs[column][mark], runsUnit(numbers));
    element(panel.tip, "span", { class: "middle" }, `run ${column}: ${value}`);
    return;
  }
  const [middle, low, high] = state.view === "quantiles" ? ["median", "10 %", "90 %"] : numbers.words;
  element(panel.tip, "span", { class: "middle" }, `${middle} ${text(mainColumn(chart, line)[mark])}`);
  element(panel.tip, "span", {}, `${low} ${text(line.low[mark])}, ${high} ${text(line.high[mark])}`);
}

function placeTip(panel, x, y) {
  panel.tip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = panel.tip;
  const left = MARGIN.left + x + (x > panel.inside.width / 2 ? -width - 12 : 12);
  const top = MARGIN.top + Math.min(Math.max(0, y - height / 2), panel.inside.height - height);
  panel.tip.style.left = `${Math.max(0, left)}px`;
  panel.tip.style.top = `${Math.max(0, top)}px`;
}

function stopReading(chart) {
  chart.reading = null;
  for (const panel of chart.panels) {
    panel.over.replaceChildren();
    panel.tip.hidden = true;
  }
  for (const { value } of chart.legend.values()) value.textContent = "";
}

/** One mark to the left or right (`marks`), or one line up or down (`lines`); the first time the last mark. */
function step(chart, panel, marks, lines) {
  const visible = visibleLines(chart, panel);
  if (!visible.length) return;
  const before = chart.reading?.panel === panel && visible.includes(chart.reading.line) ? chart.reading : null;
  if (before === null) return read(chart, panel, { line: visible[0], mark: visible[0].at.length - 1, column: 0 });
  const place = visible.indexOf(before.line) + lines;
  const line = visible[(place + visible.length) % visible.length];
  const mark = Math.min(Math.max(0, before.mark + marks), line.at.length - 1);
  read(chart, panel, { line, mark, column: 0 });
}
