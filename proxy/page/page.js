"use strict";
// Asks for status, shows it, and asks again. Names, routes and messages are other people's text: they become text nodes
// and nothing else. What has not changed is not touched, so that a thousand rows, a selection and a reader stay still.

const SHOWN_MS = 2000; // KubeRay's own pace
const HIDDEN_MS = 30000;
const LONGEST_PAUSE_MS = 15000;
const PATIENCE_MS = 20000;
const MOST_NAMED = 12; // names in a sentence
const MOST_TOLD = 5; // changes read out at once
const MOST_WARNED = 50;
const LONGEST_LINE = 120;

const byId = (id) => document.getElementById(id);
const order = new Intl.Collator(undefined, { numeric: true });
const made = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const write = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

// ---- words

const OUTCOMES = {
  forwarded: "accepted",
  unchanged: "nothing to change, so not sent",
  refused: "refused by Holdfast",
  ray_refused: "refused by Ray",
  unknown_state: "not sent, as it was not known what runs",
  outcome_unknown: "sent, and Ray did not answer",
};
const CALLERS = { kuberay: "KubeRay", other: "another client", holdfast: "Holdfast, carrying over" };
const ROLES = { active: "this cluster has the traffic", pending: "this cluster is to get the traffic" };
const WORST_FIRST = ["not carried over", "DEPLOY_FAILED", "UNHEALTHY", "not shown by Ray", "arriving", "DEPLOYING"];
const KINDS = { RUNNING: "good", DEPLOY_FAILED: "bad", UNHEALTHY: "bad", "not carried over": "bad", "not shown by Ray": "bad" };

const NO_CONTROLLER = "Ray shows no controller of Serve";

const several = (n, one, many) => `${n} ${n === 1 ? one : many}`;
const named = (names) => {
  const rest = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
};
const clock = (ms) => new Date(ms).toLocaleTimeString();
const moment = (at) => {
  const [when, today] = [new Date(at), new Date()];
  const day = when.toDateString() === today.toDateString() ? {} : { dateStyle: "medium" };
  return when.toLocaleString(undefined, { ...day, timeStyle: "short" });
};

const bare = (app) => app.state || (app.not_carried ? "not carried over" : app.arriving ? "arriving" : "not shown by Ray");
const stateOf = (app) => (app.arriving && app.state && app.state !== "RUNNING" ? `${app.state}, arriving` : bare(app));
const whyOf = (app) => {
  const message = app.state === "RUNNING" ? "" : app.message.trim();
  if (!app.not_carried) return message;
  return [message, app.state ? `Not carried over: ${app.not_carried}` : app.not_carried].filter(Boolean).join("\n");
};
const carriedOf = ({ carried_over: carried }) => carried ? `from ${carried.from || "this pod's own copy"}, ${moment(carried.at)}` : "-";
const rankOf = (app) => (WORST_FIRST.indexOf(bare(app)) + 1 || WORST_FIRST.length + 1 + (bare(app) === "RUNNING"));

function putOf(last) {
  if (!last) return "none since the sidecar started";
  const parts = [["kept", last.kept], ["retired", last.retired], ["taken over", last.taken_over]]
    .filter(([, names]) => names.length)
    .map(([done, names]) => `; ${done} ${names.length}: ${named(names)}`);
  return ` by ${CALLERS[last.caller] || last.caller}: ${OUTCOMES[last.outcome] || last.outcome}${parts.join("")}`;
}

function journalOf(journal) {
  if (!journal) return "none: dynamic applications come back only from this pod's own copy";
  const queued = journal.queued ? `${several(journal.queued, "change", "changes")} queued` : "nothing queued";
  const reached = journal.reachable ? `in step at revision ${journal.revision}` : `away: ${journal.problem || "not read yet"}`;
  return [reached, queued, ROLES[journal.role]].filter(Boolean).join("; ");
}

// ---- the table: one row an application, kept by name

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
  const cells = COLUMNS.map(({ css, title }, at) =>
    at ? made("td", { role: "cell", class: css, "data-title": title }) : made("th", { role: "rowheader", scope: "row", class: css }));
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
    if (css === "state") cell.dataset.kind = KINDS[bare(app)] || "moving";
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
  const sorted = [...rows.values()].sort((a, b) => sorting.sign * compared(a, b) || order.compare(a.app.name, b.app.name));
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

// ---- all else that is told

function fill(id, at, text) {
  const element = byId(id);
  const key = `${at} ${text}`;
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.replaceChildren(...(at ? [made("time", { datetime: at, title: moment(at) })] : []), text);
}

function show(status, isFirst) {
  write(byId("where"), status.rayservice ?? "");
  document.title = status.rayservice ? `${status.rayservice} - Holdfast` : "Holdfast";
  fill("raycluster", null, status.raycluster ?? "not told to the sidecar");
  fill("ray", null, status.ray_version + (status.serve_running ? "" : "; it shows no controller of Serve"));
  fill("kuberay", status.kuberay_last_request, status.kuberay_last_request ? "" : "none since the sidecar started");
  const { known, applications } = status.declared;
  fill("declared", null, known ? several(applications.length, "application", "applications") : "not known until its next PUT");
  fill("journal", null, journalOf(status.journal));
  fill("last-put", status.last_put?.at, putOf(status.last_put));
  write(byId("version"), status.version);
  warn(status.applications.filter((app) => app.not_carried));
  showApplications(status.applications, isFirst, status.serve_running);
  const notice = noticeOf(status);
  byId("notice").hidden = !notice;
  write(byId("notice"), notice);
  tick();
}

// A list without a controller is no proof that nothing runs.
function noticeOf(status) {
  const how = "To deploy one: holdfast apps apply -f FILE, or PUT it to applications/NAME below this page. What a RayService " +
    "declares comes with KubeRay's next PUT.";
  const isEmpty = !status.applications.length;
  if (status.serve_running) return isEmpty ? `No application runs, and none is expected. ${how}` : "";
  const doubt = `${NO_CONTROLLER}: Serve does not run, or Ray's dashboard cannot look it up at the moment.`;
  return `${doubt} ${isEmpty ? how : "The table has what else is known."}`;
}

function warn(lost) {
  const key = JSON.stringify(lost.map((app) => [app.name, app.not_carried]));
  const list = byId("warnings-list");
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  const items = lost.slice(0, MOST_WARNED).map((app) => made("li", {}, made("strong", {}, app.name), `: ${app.not_carried}`));
  if (lost.length > MOST_WARNED) items.push(made("li", {}, `and ${lost.length - MOST_WARNED} more: filter for "not carried over"`));
  list.replaceChildren(...items);
  byId("warnings").hidden = !lost.length;
}

const say = (text) => write(byId("said"), text);

function ago(at) {
  const s = Math.max(0, Math.round((Date.now() + live.skewMs - Date.parse(at)) / 1000));
  if (s < 120) return `${s} s ago`;
  if (s < 7200) return `${Math.floor(s / 60)} min ago`;
  return s < 172800 ? `${Math.floor(s / 3600)} h ago` : `${Math.floor(s / 86400)} days ago`;
}

function tick() {
  for (const element of document.querySelectorAll("time")) write(element, ago(element.dateTime));
}

// ---- asking

const live = { timer: 0, isAsking: false, failures: 0, answeredMs: 0, lostMs: 0, skewMs: 0 };

async function ask() {
  if (live.isAsking) return;
  clearTimeout(live.timer);
  live.isAsking = true;
  try {
    const answer = await fetch("status", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    const told = await answer.json().catch(() => null);
    if (answer.ok && Array.isArray(told?.applications)) answered(answer, told);
    else failed("Ray cannot be read", ...reasonOf(answer, told));
  } catch (error) {
    failed("Connection lost", error.name === "TimeoutError" ? `No answer within ${PATIENCE_MS / 1000} s.` : "The sidecar cannot be reached.");
  }
  live.isAsking = false;
  const pause = Math.min(LONGEST_PAUSE_MS, SHOWN_MS * 2 ** live.failures);
  live.timer = setTimeout(ask, document.hidden ? HIDDEN_MS : pause);
}

function answered(answer, told) {
  const isFirst = !live.answeredMs;
  live.skewMs = (Date.parse(answer.headers.get("date")) || Date.now()) - Date.now();
  if (live.failures) say("Live again");
  live.failures = 0;
  live.lostMs = 0;
  byId("trouble").hidden = true;
  byId("trouble").replaceChildren();
  byId("connection").classList.remove("lost");
  write(byId("connection"), "Live, every 2 s");
  show(told, isFirst);
  live.answeredMs = Date.now();
}

// Ray's credentials are the viewer's own: the cookie of Ray's dashboard at this very address.
function reasonOf(answer, told) {
  const said = told?.detail || told?.message || `The answer was ${answer.status} ${answer.statusText}`.trim();
  if (answer.status !== 401 && answer.status !== 403) return [said];
  return [`Ray, or what is before it, asks who you are (${answer.status}). Log in on `, made("a", { href: "../" }, "Ray's dashboard"), ", at this address, and come back."];
}

function failed(what, ...reason) {
  live.failures += 1;
  live.lostMs ||= Date.now();
  const since = `${what} since ${clock(live.lostMs)}`;
  byId("connection").classList.add("lost");
  write(byId("connection"), since);
  const kept = live.answeredMs ? ` The page shows what was known at ${clock(live.answeredMs)}.` : "";
  const box = byId("trouble");
  const news = made("p", {}, made("strong", {}, `${since}. `), ...reason, kept);
  if (box.textContent !== news.textContent) box.replaceChildren(news); // the same again is not read out again
  box.hidden = false;
}

COLUMNS.forEach(({ title }, at) => {
  const button = made("button", { type: "button" }, title);
  button.addEventListener("click", () => sortBy(at));
  byId("heads").append(made("th", { role: "columnheader", scope: "col" }, button));
});
markSorting();
let settled = 0;
byId("filter").addEventListener("input", (event) => {
  wanted = event.target.value.trim().toLowerCase();
  arrange();
  clearTimeout(settled);
  settled = setTimeout(() => say(byId("count").textContent), 700);
});
document.addEventListener("visibilitychange", () => document.hidden || ask());
window.addEventListener("online", ask);
setInterval(() => document.hidden || tick(), 1000);
ask();
