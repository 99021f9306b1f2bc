// Tables that sort by a column: up, down, and back to the order of the study, each group of rows for itself.

const ORDERS = ["none", "ascending", "descending"];

/** Rows with nothing in the column stand last, whichever way the others go. */
function compared(one, two, column, numeric, sign) {
  const [a, b] = [one, two].map((row) => row.children[column].dataset.sort);
  if (a === "" || b === "") return Number(a === "") - Number(b === "");
  return sign * (numeric ? Number(a) - Number(b) : a.localeCompare(b));
}

function sortBy(groups, heads, column) {
  const head = heads[column];
  const order = ORDERS[(ORDERS.indexOf(head.getAttribute("aria-sort")) + 1) % ORDERS.length];
  for (const other of heads) other.setAttribute("aria-sort", other === head ? order : "none");
  const numeric = head.classList.contains("n");
  for (const { body, rows } of groups) {
    const sorted = [...rows];
    const sign = order === "ascending" ? 1 : -1;
    if (order !== "none") sorted.sort((a, b) => compared(a, b, column, numeric, sign));
    body.append(...sorted);
  }
}

function makeSortable(table) {
  const groups = [...table.tBodies].map((body) => ({ body, rows: [...body.querySelectorAll("tr:not(.group)")] }));
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const made = document.createElement("button");
    made.type = "button";
    made.append(...head.childNodes);
    head.append(made);
    head.setAttribute("aria-sort", "none");
    made.addEventListener("click", () => sortBy(groups, heads, column));
  });
}

for (const table of document.querySelectorAll("table")) makeSortable(table);
