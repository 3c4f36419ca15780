// Answers a question about a text with an exported reader.
//
//     node reader.mjs FOLDER PASSAGE_FILE QUESTION [TREES.conllu]

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import ort from "onnxruntime-node";
import { numberWords, readTrees, wordsOfPieces } from "./trees.mjs";
import { WordPiece } from "./wordpiece.mjs";

const WITHOUT_WORD = { word: -1, sentence: -1, parent: -1 };

// The sequences of a passage and a question: windows, if the passage is long.
function* windows(config, passage, question) {
  const { max_length, max_question_length, doc_stride, question_first } = config.head;
  const template = config.sequence.two;
  const asked = { ...question, to: Math.min(question.pieces.ids.length, max_question_length) };
  const room = max_length - template.special.flat().length - asked.to;
  const length = passage.pieces.ids.length;
  for (let begin = 0; ; begin += doc_stride) {
    const read = { ...passage, from: begin, to: Math.min(begin + room, length) };
    const parts = [read, { from: 0, ...asked }];
    yield sequence(config, question_first ? parts.reverse() : parts, read);
    if (read.to === length) return;
  }
}

function sequence(config, parts, passage) {
  const { special, special_types: types, text_types: textTypes } = config.sequence.two;
  const columns = config.columns ?? [];
  const rows = [];
  const place = [];
  const add = (id, type, domain, context, word, shift, special) => {
    const position = rows.length;
    const row = { input_ids: id, attention_mask: 1, token_type_ids: type, domain, context };
    for (const name of columns.filter((each) => each !== "domain")) {
      const tag = special ? config.tags?.special : config.tags?.other;
      const fill = { ...WITHOUT_WORD, enter: -1 - position, exit: -position, tag };
      row[name] = word ? word[name] + (shift[name] ?? 0) : (fill[name] ?? 0);
    }
    rows.push(row);
  };
  special.forEach((tokens, number) => {
    tokens.forEach((id, at) => add(id, types[number][at], number < 2 ? 0 : 1, 0, undefined, {}, true));
    const part = parts[number];
    if (!part) return;
    const before = number ? parts[0] : undefined;
    const span = before ? before.words.length + before.pieces.ids.length + 1 : 0;
    const [nWords, nSentences] = before ? [before.words.length, before.nSentences] : [0, 0];
    const shift = { enter: span, exit: span, word: nWords, parent: nWords, sentence: nSentences };
    for (let piece = part.from; piece < part.to; piece++) {
      if (part === passage) place[rows.length] = piece;
      add(part.pieces.ids[piece], textTypes[number], number, part === passage, part.wordOf[piece], shift, false);
    }
  });
  rows[0].context = 1;
  return { rows, place };
}

function tensors(session, rows) {
  const shape = [1, rows.length];
  return Object.fromEntries(
    session.inputNames.map((name) => [
      name,
      name === "context"
        ? new ort.Tensor("bool", Uint8Array.from(rows, (row) => Number(row.context)), shape)
        : new ort.Tensor("int64", BigInt64Array.from(rows, (row) => BigInt(row[name])), shape),
    ]),
  );
}

// The best span of a window, as positions in its sequence.
function bestSpan(start, end, longest) {
  let best = { score: -Infinity };
  for (let first = 1; first < start.length; first++) {
    if (start[first] === -Infinity) continue;
    for (let last = first; last < Math.min(first + longest, end.length); last++) {
      const score = Math.fround(start[first] + end[last]);
      if (score > best.score) best = { score, first, last };
    }
  }
  return best;
}

function encode(config, tokenizer, text, sentences) {
  const pieces = tokenizer.cut(text);
  const words = numberWords(sentences, config);
  return { pieces, words, nSentences: sentences.length, wordOf: wordsOfPieces(words, pieces) };
}

export async function answer(folder, passage, question, conllu) {
  const json = async (name) => JSON.parse(await readFile(join(folder, name), "utf8"));
  const config = await json("config.json");
  const needsTrees = (config.columns ?? []).some((name) => name !== "domain");
  if (needsTrees && !conllu) throw new Error("this reader reads trees: give a CoNLL-U file of the passage");
  if (needsTrees && (config.pieces !== "share" || config.question_trees)) {
    throw new Error("this reader's guides are not covered by this example; see ../onnx_reader.py");
  }
  const tokenizer = new WordPiece(await json("tokenizer.json"));
  const session = await ort.InferenceSession.create(join(folder, "model.onnx"));
  const read = encode(config, tokenizer, passage, needsTrees ? readTrees(conllu, passage) : []);
  const asked = encode(config, tokenizer, question, []);
  let best = { score: -Infinity };
  let [nullScore, verification] = [Infinity, Infinity];
  for (const { rows, place } of windows(config, read, asked)) {
    const scores = await session.run(tensors(session, rows));
    const [start, end] = [scores.start.data, scores.end.data];
    nullScore = Math.min(nullScore, start[0] + end[0]);
    if (scores.answerability) {
      const [answerable, unanswerable] = scores.answerability.data;
      verification = Math.min(verification, unanswerable - answerable);
    }
    const found = bestSpan(start, end, config.head.max_answer_length);
    if (found.score > best.score) {
      const from = read.pieces.starts[place[found.first]];
      const last = read.pieces.ends[place[found.last]];
      // A combining accent after the last piece belongs to its last character.
      const to = last + passage.slice(last).match(/^\p{M}*/u)[0].length;
      best = { text: passage.slice(from, to), start: from, end: to, score: found.score };
    }
  }
  const { span_weight: weight, answerability_weight: verified, null_score_diff_threshold: threshold } = config.head;
  const odds = weight * (nullScore - best.score) + (verified ? verified * verification : 0);
  return { answered: odds <= threshold, ...best, null_score: nullScore };
}

const [folder, file, question, trees] = process.argv.slice(2);
if (!question) {
  console.error("usage: node reader.mjs FOLDER PASSAGE_FILE QUESTION [TREES.conllu]");
  process.exit(2);
}
try {
  const conllu = trees && (await readFile(trees, "utf8"));
  console.log(JSON.stringify(await answer(folder, await readFile(file, "utf8"), question, conllu)));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
