// A passage with its sentence, answer and alternatives marked.

import { element } from "./dom.js";

const AROUND = 500;

// Offsets of the server count characters, those of JavaScript half of some of them.
export class Text {
  constructor(text, first = 0) {
    this.points = Array.from(text);
    this.first = first;
    this.end = first + this.points.length;
  }

  slice(start, end) {
    return this.points.slice(start - this.first, end - this.first).join("");
  }
}

const isIn = (position, spans) => spans.some((span) => span.start <= position && position < span.end);

// Returns the nodes of text[start:end].
export function marked(text, start, end, { shown, others, sentence }) {
  const ranges = [...shown, ...others, sentence];
  const cuts = ranges.flatMap((range) => [range.start, range.end]).filter((cut) => start < cut && cut < end);
  const places = [...new Set([start, ...cuts])].sort((a, b) => a - b);
  const kindAt = (position) => [isIn(position, shown) ? "shown" : isIn(position, others) ? "other" : "", isIn(position, [sentence])].join();
  // What looks alike stays together: a cut in a mark would be seen.
  const starts = places.filter((place, i) => i === 0 || kindAt(place) !== kindAt(places[i - 1]));
  return starts.map((from, i) => {
    const [kind, isSentence] = kindAt(from).split(",");
    const part = text.slice(from, starts[i + 1] ?? end);
    const inner = kind ? element("mark", { class: kind }, part) : part;
    return isSentence === "true" ? element("span", { class: "sentence" }, inner) : inner;
  });
}

// The paragraph around a sentence, cut at a space where it is long.
export function excerpt(text, sentence) {
  const from = Math.max(text.first, sentence.start - AROUND);
  const to = Math.min(text.end, sentence.end + AROUND);
  const before = text.slice(from, sentence.start);
  const after = text.slice(sentence.end, to);
  const breaks = [...before.matchAll(/\n\s*\n/g)].pop();
  const next = /\n\s*\n/.exec(after);
  let kept = breaks ? before.slice(breaks.index + breaks[0].length) : before;
  if (!breaks && from > text.first) kept = kept.replace(/^\S*\s/, "");
  let last = next ? after.slice(0, next.index) : after;
  if (!next && to < text.end) last = last.replace(/\s\S*$/, "");
  return {
    start: sentence.start - Array.from(kept).length,
    end: sentence.end + Array.from(last).length,
    isCutBefore: !breaks && from > text.first,
    isCutAfter: !next && to < text.end,
  };
}
