// The list of questions: a field each, so that Enter asks and a screen reader names each.

import { byId, element } from "./dom.js";

const list = () => byId("question-list");

export function setUp() {
  byId("add-question").addEventListener("click", () => add("").focus());
  set([""]);
}

export function set(questions) {
  list().replaceChildren();
  questions.forEach(add);
}

export function all() {
  return [...list().querySelectorAll("input")].map((input) => input.value.trim()).filter(Boolean);
}

export function first() {
  return list().querySelector("input");
}

function add(question) {
  const label = element("label", { class: "spoken" });
  const input = element("input", { autocomplete: "off", enterkeyhint: "go" });
  const remove = element("button", { type: "button" }, element("span", { "aria-hidden": "true" }, "×"));
  const row = element("div", { class: "question-row" }, label, input, remove);
  input.value = question;
  input.addEventListener("paste", (event) => pasteLines(event, input));
  remove.addEventListener("click", () => {
    const next = (row.nextElementSibling || row.previousElementSibling).querySelector("input");
    row.remove();
    number();
    next.focus();
  });
  list().append(row);
  number();
  return input;
}

// Several lines at once are several questions.
function pasteLines(event, input) {
  const lines = event.clipboardData.getData("text/plain").split("\n").map((line) => line.trim()).filter(Boolean);
  if (lines.length < 2) return;
  event.preventDefault();
  input.value = lines.shift();
  lines.map(add).pop().focus();
}

function number() {
  [...list().children].forEach((row, index, rows) => {
    const [label, input, remove] = row.children;
    label.textContent = `Question ${index + 1}`;
    label.htmlFor = input.id = `question-${index + 1}`;
    input.setAttribute("aria-describedby", "ask-error");
    remove.setAttribute("aria-label", `Remove question ${index + 1}`);
    remove.hidden = rows.length === 1;
  });
}
