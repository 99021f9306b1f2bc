// The buttons above a chart, and its legend.

const VIEWS = { middle: "Mean and band", quantiles: "Quantiles", runs: "Single runs" };

function button(parent, words, pressed, act) {
  const made = element(parent, "button", { type: "button" }, words);
  if (pressed !== null) made.setAttribute("aria-pressed", pressed);
  made.addEventListener("click", act);
  return made;
}

function addControls(chart, parent) {
  const label = `Show ${chart.numbers.title}`;
  const bar = element(parent, "div", { class: "controls", role: "group", "aria-label": label });
  const controls = { views: new Map(), log: null, reset: null, all: null };
  if (chart.views.length > 1) {
    const group = element(bar, "span", { class: "group", role: "group", "aria-label": "View" });
    for (const view of chart.views) {
      controls.views.set(view, button(group, VIEWS[view], false, () => change(chart, { view, y: null })));
    }
  }
  if (chart.numbers.logX) {
    const toggle = () => change(chart, { log: !chart.state.log, x: null });
    controls.log = button(bar, `Log ${chart.numbers.x}s`, false, toggle);
  }
  const zooms = element(bar, "span", { class: "group", role: "group", "aria-label": "Zoom" });
  button(zooms, "+", null, () => zoomBy(chart, CLOSER)).setAttribute("aria-label", "Zoom in");
  button(zooms, "−", null, () => zoomBy(chart, 1 / CLOSER)).setAttribute("aria-label", "Zoom out");
  controls.reset = button(zooms, "Reset", null, () => seeAll(chart));
  return controls;
}

/** A button for each line, in the order in which the lines end, from the top. */
function addLegend(chart, parent) {
  const list = element(parent, "ul", { class: "legend", "aria-label": "Lines" });
  const legend = new Map();
  for (const line of chart.ranked) {
    const item = element(list, "li");
    const made = button(item, "", true, () => toggle(chart, line.label));
    addSample(made, line);
    element(made, "span", { class: "name" }, line.label);
    const value = element(made, "span", { class: "value" });
    for (const event of ["pointerenter", "focus"]) made.addEventListener(event, () => light(chart, line.label));
    for (const event of ["pointerleave", "blur"]) made.addEventListener(event, () => light(chart, null));
    legend.set(line.label, { line, button: made, value });
  }
  if (chart.ranked.length > 2) chart.controls.all = button(element(list, "li"), "", null, () => toggleAll(chart));
  return legend;
}

function addSample(parent, line) {
  const sample = shape(parent, "svg", { width: 30, height: 12, viewBox: "0 0 30 12", "aria-hidden": true });
  const group = shape(sample, "g", { stroke: line.colour });
  shape(group, "path", { d: "M0 6H30", "stroke-width": 1.8, "stroke-dasharray": line.dashes.join(" ") });
  if (line.marker) shape(group, "path", { class: "marker", d: line.marker, transform: "translate(15 6) scale(3)" });
}

function toggle(chart, label) {
  const hidden = new Set(chart.state.hidden);
  if (!hidden.delete(label)) hidden.add(label);
  change(chart, { hidden });
}

function toggleAll(chart) {
  const labels = chart.state.hidden.size ? [] : chart.ranked.map((line) => line.label);
  change(chart, { hidden: new Set(labels) });
}

/** One line in front of the others. Only classes change: drawing anew would be slow under a moving pointer. */
function light(chart, label) {
  chart.state.lit = label !== null && chart.state.hidden.has(label) ? null : label;
  for (const panel of chart.panels) {
    for (const group of panel.area.querySelectorAll("g.line")) {
      group.classList.toggle("dim", chart.state.lit !== null && group.dataset.label !== chart.state.lit);
    }
  }
}

function showState(chart) {
  const { state, controls } = chart;
  for (const [view, made] of controls.views) made.setAttribute("aria-pressed", view === state.view);
  controls.log?.setAttribute("aria-pressed", state.log);
  // Not disabled: whoever pressed it with a key would lose their place on the page.
  controls.reset.setAttribute("aria-disabled", state.x === null && state.y === null);
  for (const [label, { line, button: made }] of chart.legend) {
    made.setAttribute("aria-pressed", !state.hidden.has(label));
    made.querySelector("svg > g").setAttribute("stroke", colourOf(chart, line));
  }
  if (controls.all !== null) controls.all.textContent = state.hidden.size ? "Show all" : "Hide all";
}
