// Trees as integers for each piece: the inputs from which the graph builds its masks and distances.

// Reads CoNLL-U, and finds its words in the text.
export function readTrees(conllu, text) {
  const sentences = [];
  let words = [];
  let position = 0;
  for (const line of [...conllu.split(/\r?\n/), ""]) {
    const fields = line.split("\t");
    if (line.startsWith("#") || /[-.]/.test(fields[0])) continue;
    if (fields.length < 8) {
      if (words.length) sentences.push(words);
      words = [];
      continue;
    }
    const start = text.indexOf(fields[1], position);
    if (start < 0) throw new Error(`expected the words of the passage in their order, got ${fields[1]}`);
    position = start + fields[1].length;
    const [upos, xpos, head, relation] = [fields[3], fields[4], Number(fields[6]), fields[7].split(":")[0]];
    words.push({ start, end: position, upos, xpos, head, relation });
  }
  return sentences;
}

// Numbers the words of a text, walking through each tree depth first.
export function numberWords(sentences, { tags, relations }) {
  const words = [];
  sentences.forEach((sentence, number) => {
    const first = words.length;
    const children = Array.from({ length: sentence.length + 1 }, () => []);
    sentence.forEach((word, place) => children[word.head].push(place));
    const own = sentence.map((word, place) => ({
      ...word,
      word: first + place,
      sentence: number,
      parent: first + word.head - 1,
      tag: tags ? (tags.ids[tags.set === "penn" ? word.xpos : word.upos] ?? tags.other) : 0,
      relation: relations ? (relations.ids[word.relation] ?? relations.other) : 0,
    }));
    const order = [];
    const stack = children[0].map((place) => [place, 0]).reverse();
    while (stack.length) {
      const [place, depth] = stack.pop();
      Object.assign(own[place], { enter: first + order.length, depth });
      order.push(place);
      stack.push(...children[place + 1].map((child) => [child, depth + 1]).reverse());
    }
    for (const place of order.reverse()) {
      own[place].exit = Math.max(own[place].enter + 1, ...children[place + 1].map((child) => own[child].exit));
    }
    words.push(...own);
  });
  return words;
}

// The word with which each piece shares the most characters.
export function wordsOfPieces(words, pieces) {
  let first = 0;
  return pieces.ids.map((_, piece) => {
    const [start, end] = [pieces.starts[piece], pieces.ends[piece]];
    while (first < words.length && words[first].end <= start) first++;
    let [best, found] = [0, undefined];
    for (let number = first; number < words.length && words[number].start < end; number++) {
      const shared = Math.min(words[number].end, end) - Math.max(words[number].start, start);
      if (shared > best) [best, found] = [shared, words[number]];
    }
    return found;
  });
}
