"use strict";
// The page is complete without this script.  It adds the row of a word, keyboard navigation, links
// into the page, and opening the trees of an answer.  Text is only inserted as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const passage = document.getElementById("passage");
  const panel = document.getElementById("row");
  const hint = panel.firstElementChild;
  const reading = document.querySelector(".reading");
  const trees = document.querySelector(".trees");
  const tokens = [...passage.querySelectorAll(".word")];
  const tokenOf = new Map();
  const drawn = new Map();
  let question = 0;
  let pinned = null;
  let shown = null;

  const wordsOf = (token) => token.dataset.words.split(" ").map(Number);
  for (const token of tokens) for (const word of wordsOf(token)) tokenOf.set(word, token);
  for (const part of trees.querySelectorAll("[data-word]")) {
    const word = Number(part.dataset.word);
    drawn.set(word, [...(drawn.get(word) || []), part]);
  }

  function element(name, className, ...content) {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...content);
    return made;
  }

  function weightsOf(word) {
    const weights = data.attention && data.attention[question - 1];
    return weights ? weights[word - 1] : null;
  }

  // Render the path from a word to the root as a list: word, relation, head, relation, … root.
  function path(word) {
    const list = element("ol", "path");
    const weights = weightsOf(word);
    data.rows[word - 1].forEach((ancestor, step) => {
      const [form, relation, upos, xpos] = data.words[ancestor - 1];
      const tags = [upos, xpos].filter((tag, i, all) => tag !== "_" && all.indexOf(tag) === i);
      const chip = element("span", "chip", element("bdi", "", form));
      if (tags.length) chip.append(element("small", "", tags.join(" ")));
      if (weights) chip.append(element("small", "weight", weights[step].toFixed(2)));
      const last = step === data.rows[word - 1].length - 1;
      const label = last ? "root" : relation === "_" ? "" : relation;
      list.append(element("li", "", chip, element("span", "step", last ? label : label + " →")));
    });
    return list;
  }

  function clear() {
    for (const token of passage.querySelectorAll(".shown")) {
      token.classList.remove("shown", "self");
      token.style.removeProperty("--weight");
      delete token.dataset.note;
    }
    for (const part of trees.querySelectorAll(".in-row")) part.classList.remove("in-row");
  }

  function show(token) {
    clear();
    shown = token;
    if (!token) {
      panel.replaceChildren(hint);
      delete document.body.dataset.row;
      return;
    }
    for (const word of wordsOf(token)) {
      const weights = weightsOf(word);
      data.rows[word - 1].forEach((ancestor, step) => {
        const place = tokenOf.get(ancestor);
        place.classList.add("shown");
        place.classList.toggle("self", place === token);
        place.style.setProperty("--weight", weights ? weights[step] : 0.25);
        if (weights) place.dataset.note = weights[step].toFixed(2);
        else if (step) place.dataset.note = step;
        for (const part of drawn.get(ancestor) || []) part.classList.add("in-row");
      });
    }
    document.body.dataset.row = token.dataset.words;
    panel.replaceChildren(...wordsOf(token).map(path));
  }

  function link() {
    const parts = [question ? "question-" + question : "", pinned ? pinned.id : ""];
    const fragment = "#" + parts.filter(Boolean).join("/");
    try {
      history.replaceState(null, "", fragment);
    } catch (refused) {
      // An embedded page may not be allowed to change its address; everything else still works.
    }
  }

  function pin(token) {
    pinned = token;
    show(token);
    link();
  }

  function choose(number) {
    const before = data.answers[question - 1];
    const now = data.answers[number - 1];
    question = number;
    for (const part of trees.querySelectorAll(".in-answer")) part.classList.remove("in-answer");
    for (const word of now.words) {
      for (const part of drawn.get(word) || []) part.classList.add("in-answer");
    }
    for (const sentence of before ? before.sentences : []) {
      document.getElementById("sentence-" + sentence).open = false;
    }
    for (const sentence of now.sentences) document.getElementById("sentence-" + sentence).open = true;
    document.body.dataset.question = number;
    show(shown);
  }

  function follow() {
    const [, chosen] = /question-(\d+)/.exec(location.hash) || [];
    const [, word] = /word-(\d+)/.exec(location.hash) || [];
    const button = chosen && document.getElementById("question-" + chosen);
    if (button) {
      button.checked = true;
      choose(Number(chosen));
    }
    pinned = tokenOf.get(Number(word)) || null;
    show(pinned);
    if (pinned) pinned.scrollIntoView({ block: "center" });
  }

  function candidates() {
    const at = (key) => passage.querySelectorAll(`[data-spans~="${key}"]`);
    for (const candidate of document.querySelectorAll(".candidate")) {
      const places = at(candidate.dataset.span);
      const mark = (on) => places.forEach((place) => place.classList.toggle("candidate-here", on));
      candidate.tabIndex = 0;
      for (const event of ["pointerenter", "focus"]) candidate.addEventListener(event, () => mark(true));
      for (const event of ["pointerleave", "blur"]) candidate.addEventListener(event, () => mark(false));
      candidate.addEventListener("click", () => places[0].scrollIntoView({ block: "center" }));
    }
  }

  function keys(event) {
    const token = event.target.closest(".word");
    if (!token) return;
    const index = tokens.indexOf(token);
    const head = data.rows[wordsOf(token)[0] - 1][1];
    const goals = {
      ArrowRight: tokens[index + 1],
      ArrowLeft: tokens[index - 1],
      ArrowUp: tokenOf.get(head),
      Home: tokens[0],
      End: tokens[tokens.length - 1],
    };
    if (event.key in goals) {
      if (goals[event.key]) goals[event.key].focus();
    } else if (event.key === "Enter" || event.key === " ") {
      pin(pinned === token ? null : token);
    } else if (event.key === "Escape") {
      pin(null);
    } else {
      return;
    }
    event.preventDefault();
  }

  function listen() {
    const tokenAt = (event) => {
      const part = event.target.closest(".word[data-words], .trees [data-word]");
      return part && (part.dataset.words ? part : tokenOf.get(Number(part.dataset.word)));
    };
    // The panel may open under the pointer, so keep a row until the pointer leaves the section.
    for (const place of [reading, trees]) {
      place.addEventListener("pointerover", (event) => {
        const token = tokenAt(event);
        if (token) show(token);
      });
      place.addEventListener("pointerleave", () => show(pinned));
      place.addEventListener("click", (event) => {
        const token = tokenAt(event);
        if (token && getSelection().isCollapsed) pin(pinned === token ? null : token);
      });
    }
    // The whole passage is one tab stop; the arrow keys move within it ("roving tabindex").
    passage.addEventListener("focusin", (event) => {
      for (const other of passage.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
      event.target.tabIndex = 0;
      show(event.target);
    });
    passage.addEventListener("focusout", () => show(pinned));
    passage.addEventListener("keydown", keys);
    document.querySelector(".questions").addEventListener("change", (event) => {
      choose(Number(event.target.value));
      link();
    });
    addEventListener("hashchange", follow);
  }

  // Open all trees while printing, since paper cannot be unfolded.
  function print() {
    let folded = [];
    addEventListener("beforeprint", () => {
      folded = [...document.querySelectorAll("details:not([open])")];
      for (const details of folded) details.open = true;
    });
    addEventListener("afterprint", () => {
      for (const details of folded) details.open = false;
    });
  }

  for (const token of tokens) token.tabIndex = -1;
  if (tokens.length) tokens[0].tabIndex = 0;
  const checked = document.querySelector(".questions input:checked");
  if (checked) choose(Number(checked.value));
  candidates();
  listen();
  print();
  follow();
  document.documentElement.classList.add("js");
})();
