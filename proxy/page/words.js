"use strict";
// What the page says, and how it is put on it. The three scripts are one, in the order words, table, page. Names, routes
// and messages are other people's text: they become text nodes and nothing else.

const MOST_NAMED = 12; // names in a sentence

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
const BAD = ["DEPLOY_FAILED", "UNHEALTHY", "not carried over", "not shown by Ray"];

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

const absent = (app) => (app.not_carried ? "not carried over" : app.arriving ? "arriving" : "not shown by Ray");
const bare = (app) => app.state || absent(app);
const kindOf = (app) => (bare(app) === "RUNNING" ? "good" : BAD.includes(bare(app)) ? "bad" : "moving");
const stateOf = (app) => (app.arriving && app.state && app.state !== "RUNNING" ? `${app.state}, arriving` : bare(app));
const whyOf = (app) => {
  const message = app.state === "RUNNING" ? "" : app.message.trim();
  if (!app.not_carried) return message;
  return [message, app.state ? `Not carried over: ${app.not_carried}` : app.not_carried].filter(Boolean).join("\n");
};
const carriedOf = ({ carried_over: carried }) =>
  carried ? `from ${carried.from || "this pod's own copy"}, ${moment(carried.at)}` : "-";
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
  const away = `away: ${journal.problem || "not read yet"}`;
  const reached = journal.reachable ? `in step at revision ${journal.revision}` : away;
  return [reached, queued, ROLES[journal.role]].filter(Boolean).join("; ");
}
