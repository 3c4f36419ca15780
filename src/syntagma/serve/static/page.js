// Start the page: what the server has, the key that it may want, and which view is shown.

import { call, Problem, useKey, whenKeyIsNeeded } from "./api.js";
import * as ask from "./ask.js";
import { byId } from "./dom.js";
import * as parse from "./parse.js";

const VIEWS = ["ask", "parse"];
const TITLES = { ask: "Ask a text", parse: "Parse a text" };
const RETRY_MS = 1000;
let offered = VIEWS;

function showView() {
  const wanted = location.hash.slice(1);
  if (location.hash && !VIEWS.includes(wanted)) return; // the skip link
  const view = offered.includes(wanted) ? wanted : offered[0];
  for (const each of VIEWS) {
    byId(`${each}-view`).hidden = each !== view;
    byId(`${each}-link`).hidden = !offered.includes(each);
    if (each === view) byId(`${each}-link`).setAttribute("aria-current", "page");
    else byId(`${each}-link`).removeAttribute("aria-current");
  }
  document.title = view ? `${TITLES[view]} · Syntagma` : "Syntagma";
}

function offer(models) {
  const has = (kind) => models.some((model) => model.kind === kind);
  offered = VIEWS.filter((view) => has({ ask: "reader", parse: "parser" }[view]));
  ask.offerModels(models);
  parse.offerModels(models);
  const names = models.map((model) => (model.version ? `${model.name} ${model.version}` : model.name));
  byId("served").textContent = offered.length ? names.join(", ") : "This server has no reader and no parser; see API for what it has.";
  showView();
}

async function isReady() {
  const response = await fetch("/ready").catch(() => null);
  if (!response) throw new Problem("The server cannot be reached; load this page again when it runs.", 0);
  return response.ok;
}

async function load() {
  try {
    while (!(await isReady())) {
      byId("served").textContent = "The models are being loaded…";
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    offer((await (await call("/v1/models")).json()).models);
    return true;
  } catch (error) {
    byId("served").textContent = error.status === 401 ? "A key is needed." : error.message;
    return false;
  }
}

function setUpKey() {
  whenKeyIsNeeded((hadOne) => {
    byId("key-form").hidden = false;
    byId("key-error").textContent = hadOne ? "The server does not take this key." : "";
    byId("key").focus();
  });
  byId("key-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    useKey(byId("key").value.trim());
    byId("key-error").textContent = "";
    if (!(await load())) return;
    byId("key-form").hidden = true;
    byId("main").focus();
  });
}

setUpKey();
ask.setUp();
parse.setUp();
showView();
addEventListener("hashchange", () => {
  showView();
  if (VIEWS.includes(location.hash.slice(1))) byId("main").focus();
});
load();
