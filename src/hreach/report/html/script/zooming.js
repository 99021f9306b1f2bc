// Zooming: buttons, a rectangle drawn with the mouse, the wheel, keys.

const CLOSER = 0.6;

function seeAll(chart) {
  change(chart, { x: null, y: null });
}

function zoomTo(chart, x, y) {
  const { all } = windowOf(chart);
  const inside = ([low, high], [least, most]) => [Math.max(low, least), Math.min(high, most)];
  const [newX, newY] = [inside(x, all.x), inside(y, all.y)];
  const enough = ([low, high], [least, most]) => high - low > 1e-4 * (most - least);
  if (!enough(newX, all.x) || !enough(newY, all.y)) return;
  const whole = String([newX, newY]) === String([all.x, all.y]);
  change(chart, whole ? { x: null, y: null } : { x: newX, y: newY });
}

/** Keep the place (from 0 to 1 of the axes) where it is and show `factor` times as much around it. */
function zoomBy(chart, factor, place = { x: 0.5, y: 0.5 }) {
  const [panel] = chart.panels;
  const { width, height } = panel.inside;
  const around = (scale, length, share) => {
    const [from, to] = [share * (1 - factor) * length, (share + (1 - share) * factor) * length];
    return [scale.value(from), scale.value(to)].sort((a, b) => a - b);
  };
  zoomTo(chart, around(panel.xs, width, place.x), around(panel.ys, height, place.y));
}

function placeIn(panel, event) {
  const frame = panel.svg.getBoundingClientRect();
  return { x: event.clientX - frame.left - MARGIN.left, y: event.clientY - frame.top - MARGIN.top };
}

function listen(chart, panel) {
  const { svg } = panel;
  let start = null;
  svg.addEventListener("pointermove", (event) => {
    const place = placeIn(panel, event);
    if (start !== null) return drawChosen(panel, start, place);
    const found = nearest(chart, panel, place.x, place.y);
    if (found !== null) read(chart, panel, found);
  });
  svg.addEventListener("pointerdown", (event) => {
    // A finger reads values and scrolls the page; it zooms with the buttons.
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    start = placeIn(panel, event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointerup", (event) => {
    if (start !== null) zoomToChosen(chart, panel, start, placeIn(panel, event));
    start = null;
  });
  svg.addEventListener("pointercancel", () => (start = null));
  svg.addEventListener("pointerleave", () => stopReading(chart));
  svg.addEventListener("dblclick", () => seeAll(chart));
  svg.addEventListener("wheel", (event) => turn(chart, panel, event), { passive: false });
  svg.addEventListener("keydown", (event) => press(chart, panel, event));
  svg.addEventListener("blur", () => stopReading(chart));
}

/** A flat choice is one of x alone. */
function chosen(panel, start, end) {
  const flat = Math.abs(end.y - start.y) < 24;
  const [left, right] = [start.x, end.x].sort((a, b) => a - b);
  const [top, bottom] = flat ? [0, panel.inside.height] : [start.y, end.y].sort((a, b) => a - b);
  return { left, right, top, bottom };
}

function drawChosen(panel, start, end) {
  const { left, right, top, bottom } = chosen(panel, start, end);
  panel.tip.hidden = true;
  panel.over.replaceChildren();
  shape(panel.over, "rect", { class: "chosen", x: left, y: top, width: right - left, height: bottom - top });
}

function zoomToChosen(chart, panel, start, end) {
  const { left, right, top, bottom } = chosen(panel, start, end);
  panel.over.replaceChildren();
  if (right - left < 8) return;
  zoomTo(chart, [panel.xs.value(left), panel.xs.value(right)], [panel.ys.value(bottom), panel.ys.value(top)]);
}

/** The wheel scrolls the page, unless Ctrl is held (as a pinch on a touchpad does) or the chart was clicked on. */
function turn(chart, panel, event) {
  if (!event.ctrlKey && document.activeElement !== panel.svg) return;
  event.preventDefault();
  const { x, y } = placeIn(panel, event);
  zoomBy(chart, event.deltaY < 0 ? 0.8 : 1.25, { x: x / panel.inside.width, y: y / panel.inside.height });
}

function press(chart, panel, event) {
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const zooms = { "+": () => zoomBy(chart, CLOSER), "-": () => zoomBy(chart, 1 / CLOSER), 0: () => seeAll(chart) };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in moves) step(chart, panel, ...moves[event.key]);
  else if (event.key in zooms) zooms[event.key]();
  else return;
  event.preventDefault();
}
