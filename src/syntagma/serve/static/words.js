// Probabilities in words and numbers.

// Two decimals, and never certain.
export function decimal(probability) {
  if (probability < 0.01) return "<0.01";
  return probability > 0.99 ? ">0.99" : probability.toFixed(2);
}

const SCALE = [
  [0.9, "very likely"],
  [0.7, "likely"],
  [0.5, "a little more likely than not"],
  [0.3, "a little less likely than not"],
  [0.1, "unlikely"],
  [0, "very unlikely"],
];

export function likelihood(probability) {
  return SCALE.find(([least]) => probability >= least)[1];
}

export const OUTCOMES = {
  answer: ["✓", "Answer"],
  unsure: ["?", "Unsure"],
  none: ["∅", "No answer"],
};

// An outcome in a sentence, for those who hear the page.
export function spoken(answer, from) {
  if (answer.outcome === "none") return `No answer in the ${from}.`;
  const [, word] = OUTCOMES[answer.outcome];
  return answer.outcome === "unsure" ? `${word}: ${shown(answer)} (${answer.reason}).` : `${word}: ${shown(answer)}.`;
}

// What is shown for an answer; several parts are separated by semicolons.
export function shown(answer) {
  if (answer.spans.length > 1) return answer.spans.map((span) => span.text).join("; ");
  return answer.text;
}
