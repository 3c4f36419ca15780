// Parse a text into trees, which can be saved and copied.

import { call, Running } from "./api.js";
import { byId, complain, forgive, offer, plural, reveal } from "./dom.js";
import * as examples from "./examples.js";
import { fit, trees } from "./trees.js";

const CONLLU = "text/x-conllu";
const SVG = "image/svg+xml";
const results = { [CONLLU]: "", [SVG]: "" };
let parsers = [];

// Args: the models of /v1/models.
export function offerModels(models) {
  parsers = models.filter((model) => model.kind === "parser");
  offer(byId("parser"), parsers.map((parser) => parser.name));
  showPhrases();
}

export function setUp() {
  const running = new Running(byId("parse-stop"));
  byId("parser").addEventListener("change", showPhrases);
  byId("parse-example").addEventListener("click", () => {
    byId("parse-text").value = examples.SENTENCES;
    forgive(byId("parse-error"));
    byId("parse-text").focus();
  });
  byId("parse-form").addEventListener("submit", (event) => {
    event.preventDefault();
    parse(running);
  });
  byId("parse-text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("parse-form").requestSubmit();
  });
  byId("save-conllu").addEventListener("click", () => save(CONLLU, "parse.conllu"));
  byId("save-svg").addEventListener("click", () => save(SVG, "parse.svg"));
  byId("copy-conllu").addEventListener("click", copy);
}

function showPhrases() {
  const parser = parsers.find((each) => each.name === byId("parser").value);
  byId("phrases-field").hidden = !(parser && parser.phrases);
}

async function parse(running) {
  const error = byId("parse-error");
  const status = byId("parse-status");
  const body = { text: byId("parse-text").value };
  forgive(error);
  if (!body.text.trim()) return complain(error, "There is no text: paste one, or use the example.", byId("parse-text"));
  if (!byId("parser-field").hidden) body.model = byId("parser").value;
  if (!byId("phrases-field").hidden) body.phrases = byId("phrases").checked;
  status.textContent = "Parsing…";
  byId("parse-empty").hidden = true;
  byId("parsed").hidden = true;
  reveal(byId("trees-heading"));
  try {
    const end = await running.run(async (signal) => {
      // One after the other: the server keeps the parse for the second.
      for (const accept of [CONLLU, SVG]) {
        results[accept] = await (await call("/v1/parse", { body, accept, signal })).text();
      }
    });
    if (end !== "replaced") status.textContent = end === "done" ? show() : "Stopped.";
  } catch (failure) {
    status.textContent = "";
    byId("parse-empty").hidden = false;
    complain(error, failure.message);
    error.scrollIntoView({ block: "nearest" });
  }
}

function show() {
  const figures = trees(results[SVG]);
  byId("trees").replaceChildren(...figures);
  byId("conllu").textContent = results[CONLLU];
  byId("parsed").hidden = false;
  fit(figures);
  return `${plural(figures.length, "sentence")}.`;
}

function save(type, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([results[type]], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function copy() {
  const status = byId("parse-status");
  try {
    // Browsers have a clipboard only for localhost and over TLS.
    await navigator.clipboard.writeText(results[CONLLU]);
    status.textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(byId("conllu"));
    byId("conllu").focus();
    status.textContent = "The browser does not let the page copy: the CoNLL-U is selected, copy it with Ctrl+C.";
  }
}
