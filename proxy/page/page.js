// All else that the page tells; and when it asks.

const SHOWN_MS = 2000; // KubeRay's own pace
const HIDDEN_MS = 30000;
const LONGEST_PAUSE_MS = 15000;
const PATIENCE_MS = 20000;
const MOST_WARNED = 50;

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
  const declared = several(applications.length, "application", "applications");
  fill("declared", null, known ? declared : "not known until its next PUT");
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
  const how = "To deploy one: holdfast apps apply -f FILE, or PUT it to applications/NAME below this page. " +
    "What a RayService declares comes with KubeRay's next PUT.";
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
  const item = (app) => made("li", {}, made("strong", {}, app.name), `: ${app.not_carried}`);
  const items = lost.slice(0, MOST_WARNED).map(item);
  const rest = lost.length - MOST_WARNED;
  if (rest > 0) items.push(made("li", {}, `and ${rest} more: filter for "not carried over"`));
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
    const isLate = error.name === "TimeoutError";
    failed("Connection lost", isLate ? `No answer within ${PATIENCE_MS / 1000} s.` : "The sidecar cannot be reached.");
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
  const dashboard = made("a", { href: "../" }, "Ray's dashboard");
  const who = `Ray, or what is before it, asks who you are (${answer.status}).`;
  return [`${who} Log in on `, dashboard, ", at this address, and come back."];
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
