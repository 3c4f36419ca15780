// Ask a text or an index, and show an answer as soon as it comes.

import { answerCard, problemCard } from "./answer_card.js";
import { call, lines, Running } from "./api.js";
import { byId, complain, element, forgive, offer, plural, reveal } from "./dom.js";
import * as examples from "./examples.js";
import { readText, takeFiles } from "./files.js";
import { Text } from "./passage.js";
import * as questions from "./questions.js";
import { spoken } from "./words.js";

let hasParser = false;

// Args: the models of /v1/models.  Called again when they are known better.
export function offerModels(models) {
  const named = (kind) => models.filter((model) => model.kind === kind).map((model) => model.name);
  hasParser = named("parser").length > 0;
  offer(byId("reader"), named("reader"));
  const indexes = models.filter((model) => model.kind === "index");
  const options = indexes.map(({ name, documents }) => {
    const size = documents === undefined ? "" : ` (${plural(documents, "document")})`;
    return element("option", { value: name }, `The index ${name}${size}`);
  });
  byId("source").replaceChildren(element("option", { value: "" }, "A text"), ...options);
  byId("source-field").hidden = !indexes.length;
  showSource();
}

export function setUp() {
  questions.setUp();
  const running = new Running(byId("ask-stop"));
  byId("source").addEventListener("change", showSource);
  takeFiles(byId("file"), byId("text"), open);
  byId("text").addEventListener("input", () => { byId("file-note").textContent = ""; });
  byId("ask-example").addEventListener("click", () => {
    byId("source").value = "";
    showSource();
    byId("text").value = examples.TEXT;
    byId("file-note").textContent = "";
    forgive(byId("ask-error"));
    questions.set(examples.QUESTIONS);
    questions.first().focus();
  });
  byId("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    ask(running);
  });
  byId("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("ask-form").requestSubmit();
  });
}

function showSource() {
  byId("text-field").hidden = byId("source").value !== "";
}

async function open(file) {
  const note = byId("file-note");
  try {
    byId("text").value = await readText(file);
    forgive(byId("ask-error"));
    note.textContent = `${file.name} is in the field above.`;
  } catch (error) {
    note.textContent = "";
    complain(byId("ask-error"), error.message, byId("file"));
  }
}

function request() {
  const body = { questions: questions.all(), mode: byId("ask-form").elements.mode.value };
  if (!byId("reader-field").hidden) body.model = byId("reader").value;
  if (byId("source").value) body.index = byId("source").value;
  else body.text = byId("text").value;
  return body;
}

async function ask(running) {
  const body = request();
  const error = byId("ask-error");
  forgive(error);
  if (body.text !== undefined && !body.text.trim()) {
    return complain(error, "There is no text: paste one, open a file, or use the example.", byId("text"));
  }
  if (!body.questions.length) return complain(error, "There is no question: write one.", questions.first());
  const status = byId("ask-status");
  const place = byId("answers");
  place.replaceChildren();
  byId("ask-empty").hidden = true;
  status.className = "status";
  status.textContent = "Reading…";
  reveal(byId("answers-heading"));
  try {
    const answers = [];
    const end = await running.run((signal) => receive(body, signal, place, answers));
    if (end === "replaced") return;
    status.textContent = end === "done" ? summary(answers, body) : "Stopped.";
    // The card says the same to those who see it.
    if (end === "done" && body.questions.length === 1 && answers.length) status.className = "spoken";
  } catch (failure) {
    status.textContent = "";
    byId("ask-empty").hidden = place.childElementCount > 0;
    complain(error, failure.message);
    error.scrollIntoView({ block: "nearest" });
  }
}

async function receive(body, signal, place, answers) {
  const text = body.text === undefined ? null : new Text(body.text);
  const response = await call("/v1/answer", { body, signal, accept: "application/x-ndjson" });
  for await (const line of lines(response)) {
    if (line.problem) {
      place.append(problemCard(body.questions[line.item], line.problem));
      continue;
    }
    answers.push(line);
    place.append(answerCard(line, text, hasParser));
  }
}

function summary(answers, body) {
  if (body.questions.length === 1 && answers.length) return spoken(answers[0], body.index ? "index" : "text");
  const count = (outcome) => answers.filter((answer) => answer.outcome === outcome).length;
  const parts = [
    [count("answer"), plural(count("answer"), "answer")],
    [count("unsure"), `${count("unsure")} unsure`],
    [count("none"), `${count("none")} without an answer`],
    [body.questions.length - answers.length, `${body.questions.length - answers.length} failed`],
  ];
  const shown = parts.filter(([number]) => number).map(([, words]) => words);
  return `${plural(body.questions.length, "question")}: ${shown.join(", ")}.`;
}
