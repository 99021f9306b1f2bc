// Numbers: out of packed columns, to places on an axis, and into words.

/** The values of a column as `figures/numbers.py` packs it. */
function unpacked(column, unit) {
  if (unit === null) return column;
  let whole = 0;
  return column.map((difference) => (whole += difference) * unit);
}

/** Single runs are packed with a tenth of the precision. */
function runsUnit({ unit }) {
  return unit && 10 * unit;
}

const SHAPES = {
  linear: () => ({ into: (v) => v, back: (u) => u }),
  log: () => ({ into: Math.log10, back: (u) => 10 ** u }),
  symlog: (range) => {
    const near = Math.max(...range.map(Math.abs)) / 1000;
    const into = (v) => Math.sign(v) * Math.log10(1 + Math.abs(v) / near);
    return { into, back: (u) => Math.sign(u) * near * (10 ** Math.abs(u) - 1) };
  },
};

/** A scale from the numbers low..high to the places from..to, and back. */
function scaleOf(shape, [low, high], [from, to]) {
  const start = shape.into(low);
  const each = (to - from) / (shape.into(high) - start);
  return {
    place: (value) => from + (shape.into(value) - start) * each,
    value: (place) => shape.back(start + (place - from) / each),
  };
}

/** A number as the tables write it: .357, −1783, 1.51e11; to the places of the unit, if it is one below 1. */
function written(value, unit) {
  const size = Math.abs(value);
  let digits;
  if (unit !== null && unit < 1) digits = size.toFixed(Math.min(12, Math.ceil(-Math.log10(unit) - 1e-9)));
  else if (size >= 1e5) digits = size.toExponential(2).replace("e+", "e").replace(/\.?0*e/, "e");
  else digits = size >= 1000 ? size.toFixed(0) : String(Number(size.toPrecision(4)));
  return (value < 0 && Number(digits) > 0 ? "−" : "") + digits.replace(/^0\./, ".");
}

/** Round numbers in low..high, about `count` of them, each with its text. */
function ticksOf(kind, [low, high], count) {
  const ticks = kind === "linear" ? [] : powers(kind, low, high, count);
  return ticks.length >= 3 ? ticks : evenTicks(low, high, count);
}

/** Names in low..high for the numbers 0, 1, ..., about `count` of them and, where that can be, the last one. */
function namedTicks(names, [low, high], count) {
  const last = names.length - 1;
  const fits = (every) => (high - low) / every <= count;
  const strides = names.map((_, i) => i + 1).filter(fits);
  const stride = strides.find((every) => last % every === 0 && every <= 2 * strides[0]) ?? strides[0] ?? last;
  const ticks = names.map((text, value) => ({ value, text }));
  return ticks.filter(({ value }) => value % stride === 0 && low <= value && value <= high);
}

function evenTicks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((m) => m * power >= rough) ?? 10);
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n <= high / step + 1e-9; n++) {
    ticks.push({ value: n * step, text: written(n * step, step) });
  }
  return ticks.length >= 2 || count > 8 ? ticks : evenTicks(low, high, count + 1); // one number is no scale
}

function powers(kind, low, high, count) {
  const largest = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high))));
  const smallest = Math.floor(Math.log10(kind === "log" ? low : Math.max(Math.abs(low), Math.abs(high)) / 1000));
  const some = (every, factors) => {
    const found = [];
    for (let n = smallest; n <= largest; n += every) for (const f of factors) found.push(f * 10 ** n);
    const all = kind === "log" ? found : [...found.map((v) => -v), 0, ...found];
    return all.filter((v) => low <= v && v <= high);
  };
  const choices = [some(1, [1, 2, 5]), some(1, [1, 3]), some(1, [1]), some(2, [1]), some(4, [1])];
  const values = choices.find((choice) => choice.length <= count + 1) ?? [];
  const unit = (size) => (size !== 0 && size < 1 ? size : 1);
  return values.map((value) => ({ value, text: written(value, unit(Math.abs(value))) }));
}
