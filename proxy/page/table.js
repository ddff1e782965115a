// The table: one row an application, kept by name. What has not changed is not touched, so that a thousand rows, a
// selection and a reader stay still.

const MOST_TOLD = 5; // changes read out at once
const LONGEST_LINE = 120;

const COLUMNS = [
  { title: "Name", css: "name", text: (app) => app.name },
  { title: "State", css: "state", text: stateOf, rank: rankOf },
  { title: "Owner", css: "owner", text: (app) => app.owner },
  { title: "Origin", css: "origin", text: (app) => app.origin },
  { title: "Route", css: "route", text: (app) => app.route_prefix ?? "-" },
  { title: "Journal", css: "journal", text: (app) => app.journal ?? "-" },
  { title: "Carried over", css: "carried", text: carriedOf },
  { title: "Why not", css: "why", text: (app) => whyOf(app) || "-" },
];
const rows = new Map();
const sorting = { column: 0, sign: 1 };
let wanted = "";

function makeRow(app) {
  const cells = COLUMNS.map(({ css, title }) =>
    css === "name"
      ? made("th", { role: "rowheader", scope: "row", class: css })
      : made("td", { role: "cell", class: css, "data-title": title }));
  return { element: made("tr", { role: "row" }, ...cells), cells, texts: [], app };
}

function fillRow(row, app) {
  row.app = app;
  COLUMNS.forEach(({ css, text }, at) => {
    const now = text(app);
    if (row.texts[at] === now) return;
    const cell = row.cells[at];
    if (css === "why") explain(cell, now);
    else cell.textContent = now;
    if (css === "state") cell.dataset.kind = kindOf(app);
    cell.classList.toggle("nothing", now === "-");
    row.texts[at] = now;
  });
}

// What is long is folded away behind its last line: of a traceback, it says what is wrong.
function explain(cell, why) {
  const lines = why.split("\n").filter((line) => line.trim());
  const line = lines[lines.length - 1];
  if (lines.length === 1 && line.length <= LONGEST_LINE) return void cell.replaceChildren(why);
  const summary = made("summary", {}, line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 3)}...` : line);
  const isOpen = cell.firstElementChild?.open;
  cell.replaceChildren(made("details", isOpen ? { open: "" } : {}, summary, made("pre", {}, why)));
}

function changesTo(applications) {
  const told = [];
  for (const app of applications) {
    const before = rows.get(app.name);
    if (!before) told.push(`${app.name}: new, ${stateOf(app)}`);
    else if (stateOf(before.app) !== stateOf(app)) told.push(`${app.name}: ${stateOf(before.app)} to ${stateOf(app)}`);
  }
  const names = new Set(applications.map((app) => app.name));
  for (const name of rows.keys()) if (!names.has(name)) told.push(`${name}: gone`);
  return told;
}

function showApplications(applications, isFirst, isSure) {
  const told = isFirst ? [] : isSure ? changesTo(applications) : [NO_CONTROLLER];
  const gone = new Set(rows.keys());
  for (const app of applications) {
    gone.delete(app.name);
    const known = rows.get(app.name);
    const row = known || makeRow(app);
    const isNews = !isFirst && (!known || stateOf(known.app) !== stateOf(app));
    row.element.classList.toggle("changed", isNews);
    fillRow(row, app);
    rows.set(app.name, row);
  }
  for (const name of gone) {
    rows.get(name).element.remove();
    rows.delete(name);
  }
  arrange();
  const more = told.length - MOST_TOLD;
  if (told.length) say(told.slice(0, MOST_TOLD).join(". ") + (more > 0 ? `. And ${more} more changes` : ""));
}

function arrange() {
  const { text, rank } = COLUMNS[sorting.column];
  const compared = (a, b) => (rank ? rank(a.app) - rank(b.app) : order.compare(text(a.app), text(b.app)));
  const byName = (a, b) => order.compare(a.app.name, b.app.name);
  const sorted = [...rows.values()].sort((a, b) => sorting.sign * compared(a, b) || byName(a, b));
  const body = byId("rows");
  const focused = document.activeElement;
  let shown = 0;
  sorted.forEach((row, at) => {
    const isShown = !wanted || row.texts.some((each) => each.toLowerCase().includes(wanted));
    shown += isShown;
    if (row.element.hidden === isShown) row.element.hidden = !isShown;
    if (body.children[at] !== row.element) body.insertBefore(row.element, body.children[at] || null);
  });
  if (document.activeElement !== focused) focused.focus({ preventScroll: true }); // a row that moves loses it
  write(byId("count"), counted(sorted, shown));
  byId("applications").hidden = !rows.size;
}

function counted(sorted, shown) {
  if (wanted) return `${shown} of ${several(sorted.length, "application", "applications")}`;
  const states = new Map();
  for (const { app } of sorted) states.set(bare(app), (states.get(bare(app)) || 0) + 1);
  const parts = [...states].map(([state, n]) => `${n} ${state}`);
  return several(sorted.length, "application", "applications") + (parts.length ? `: ${parts.join(", ")}` : "");
}

function sortBy(column) {
  sorting.sign = sorting.column === column ? -sorting.sign : 1;
  sorting.column = column;
  markSorting();
  arrange();
}

function markSorting() {
  [...byId("heads").children].forEach((head, at) => {
    if (at === sorting.column) head.setAttribute("aria-sort", sorting.sign > 0 ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  });
}
