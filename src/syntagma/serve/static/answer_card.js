// The card of an answer: outcome, probabilities, passage, alternatives, tree.

import { call } from "./api.js";
import { element, plural, svgElement } from "./dom.js";
import { excerpt, marked, Text } from "./passage.js";
import { fit, trees } from "./trees.js";
import { decimal, likelihood, OUTCOMES, shown } from "./words.js";

// Args: an answer of /v1/answer; the text it is from, or null for an index; whether there is a parser.
export function answerCard(answer, text, hasParser) {
  const [sign, word] = OUTCOMES[answer.outcome];
  const label = element("span", { class: "outcome-word" }, element("span", { "aria-hidden": "true" }, `${sign} `), word);
  const found = answer.outcome === "none" ? `in the ${text ? "text" : "index"}` : element("bdi", {}, shown(answer));
  const card = element(
    "article",
    { class: `card ${answer.outcome}` },
    element("h3", {}, element("bdi", {}, answer.question)),
    element("p", { class: "found" }, label, " ", found),
    answer.reason ? element("p", { class: "reason" }, `Unsure because: ${answer.reason}.`) : null,
    gauge(answer),
    probabilities(answer),
  );
  const passages = answer.passages || [];
  const best = passages.length && answer.candidates.length ? passages[answer.candidates[0].paragraph] : null;
  const whole = text || (best && new Text(best.text, best.start));
  // An index has a sentence even without an answer, but that would say nothing.
  const hasSentence = answer.outcome !== "none" && answer.sentence && whole;
  if (hasSentence) card.append(...passageParts(answer, whole, best));
  card.append(...alternatives(answer, passages));
  if (hasSentence && hasParser) card.append(tree(answer.sentence.text));
  const others = passages.filter((passage) => passage !== best || !hasSentence);
  if (others.length) card.append(passageList(others, hasSentence));
  return card;
}

export function problemCard(question, problem) {
  return element(
    "article",
    { class: "card" },
    element("h3", {}, element("bdi", {}, question)),
    element("p", { class: "error" }, problem.detail),
  );
}

function probabilities(answer) {
  const rows = [
    ["right", "Confidence that it is right", answer.confidence],
    ["absent", "Probability of no answer", answer.no_answer],
  ];
  const list = element("dl", { class: "probabilities" });
  for (const [kind, name, value] of rows) {
    list.append(element("div", {}, element("dt", { class: kind }, name), element("dd", {}, `${decimal(value)}, ${likelihood(value)}`)));
  }
  if (!answer.calibrated) {
    list.append(element("div", {}, element("dt", {}, "Calibration"), element("dd", {}, "none: this reader's numbers are rough")));
  }
  return list;
}

// Both probabilities as parts of a bar; what is between them is the probability of a wrong answer.
function gauge(answer) {
  const right = 100 * answer.confidence;
  const absent = 100 * answer.no_answer;
  return svgElement(
    "svg",
    { class: "gauge", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    svgElement("rect", { class: "rail", width: 100, height: 4 }),
    svgElement("rect", { class: "right", width: right, height: 4 }),
    svgElement("rect", { class: "absent", x: 100 - absent, width: absent, height: 4 }),
  );
}

function isShown(answer, candidate) {
  const parts = answer.outcome === "none" ? [] : [answer, ...answer.spans];
  return parts.some((part) => part.start === candidate.start && part.end === candidate.end);
}

function passageParts(answer, text, passage) {
  const spans = answer.spans.length > 1 ? answer.spans : [answer];
  const first = answer.candidates.length ? answer.candidates[0].paragraph : undefined;
  const others = answer.candidates.filter((each) => each.paragraph === first && !isShown(answer, each));
  const ranges = { shown: spans, others, sentence: answer.sentence };
  const part = passage ? { start: text.first, end: text.end } : excerpt(text, answer.sentence);
  const quote = element("blockquote", { dir: "auto" }, ...marked(text, part.start, part.end, ranges));
  if (part.isCutBefore) quote.prepend("… ");
  if (part.isCutAfter) quote.append(" …");
  const figure = element("figure", {}, element("figcaption", {}, passage ? place(passage) : "The sentence, in its paragraph"), quote);
  if (passage || (part.start === text.first && part.end === text.end)) return [figure];
  const body = element("blockquote", { class: "whole", dir: "auto", tabindex: "0", role: "region", "aria-label": "The whole text" });
  const details = element("details", {}, element("summary", {}, "Show the whole text"), body);
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    if (!body.firstChild) body.append(...marked(text, text.first, text.end, ranges));
    // Not scrollIntoView, which would move the page too.
    const mark = body.querySelector(".shown");
    body.scrollTop = mark.offsetTop - body.offsetTop - body.clientHeight / 3;
  });
  return [figure, details];
}

// Where a passage is: file, page, heading.
function place(passage) {
  const parts = [passage.source];
  if (passage.page !== null) parts.push(`page ${passage.page}`);
  if (passage.heading) parts.push(passage.heading);
  return element("span", {}, parts.join(" · "));
}

function alternatives(answer, passages) {
  const others = answer.candidates.filter((each) => !isShown(answer, each));
  if (!others.length) return [];
  const title = answer.outcome === "none" ? "What came closest" : "Alternatives";
  const head = element("tr", {}, element("th", { scope: "col" }, "Candidate"), element("th", { scope: "col" }, "Share"));
  const rows = others.map((each) => {
    const passage = passages[each.paragraph];
    const name = element("td", {}, element("bdi", {}, each.text), passage ? element("small", {}, place(passage)) : null);
    return element("tr", {}, name, element("td", {}, decimal(each.share)));
  });
  return [element("table", {}, element("caption", {}, title), element("thead", {}, head), element("tbody", {}, ...rows))];
}

function tree(sentence) {
  const body = element("div", { "aria-live": "polite" });
  const details = element("details", {}, element("summary", {}, "Show the tree of the sentence"), body);
  details.addEventListener("toggle", async () => {
    if (!details.open || body.firstChild) return;
    body.append("Parsing…");
    try {
      const response = await call("/v1/parse", { body: { text: sentence }, accept: "image/svg+xml" });
      const figures = trees(await response.text());
      body.replaceChildren(...figures);
      fit(figures);
    } catch (error) {
      // Opening it again tries again.
      body.replaceChildren(element("p", { class: "error" }, error.message));
      details.addEventListener("toggle", () => body.replaceChildren(), { once: true });
    }
  });
  return details;
}

function passageList(passages, hasAnswer) {
  const items = passages.map((passage) => {
    const caption = element("p", {}, element("b", {}, place(passage)));
    return element("li", {}, caption, element("p", { dir: "auto" }, passage.text));
  });
  const count = plural(passages.length, hasAnswer ? "other passage" : "passage");
  return element("details", {}, element("summary", {}, `Show ${count} that the reader read`), element("ol", { class: "passages" }, ...items));
}
