// Cuts text into the pieces of BERT's and MPNet's tokenizers, with their characters.

const ACCENT = /\p{Mn}/u;
const SPACE = /\s/u;
const CONTROL = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;
const CHINESE = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/u;
// All that is neither letter nor digit in ASCII counts as punctuation.
const PUNCTUATION = /[\p{P}$+<=>^`|~]/u;

export class WordPiece {
  constructor(description) {
    const { model, normalizer, pre_tokenizer: words } = description;
    if (model.type !== "WordPiece" || normalizer?.type !== "BertNormalizer" || words?.type !== "BertPreTokenizer") {
      throw new Error(`tokenizer.json: expected BERT's WordPiece, got ${model.type}; use another tokenizer`);
    }
    this.vocabulary = model.vocab;
    this.unknown = model.vocab[model.unk_token];
    this.prefix = model.continuing_subword_prefix ?? "##";
    this.longest = model.max_input_chars_per_word ?? 100;
    this.lowercase = normalizer.lowercase;
    this.stripsAccents = normalizer.strip_accents ?? normalizer.lowercase;
  }

  // Returns the ids of the pieces, and where each starts and ends in the text.
  cut(text) {
    const pieces = { ids: [], starts: [], ends: [] };
    for (const word of this.#words(text)) this.#cutWord(word, pieces);
    return pieces;
  }

  // Normalised characters of each word, each with its place in the text.
  *#words(text) {
    let word = [];
    let place = 0;
    for (const original of text) {
      const start = place;
      place += original.length;
      if (original === "\0" || original === "\ufffd") continue;
      if (CONTROL.test(original) && !SPACE.test(original)) continue;
      let changed = original;
      if (this.stripsAccents) changed = [...changed.normalize("NFD")].filter((each) => !ACCENT.test(each)).join("");
      if (this.lowercase) changed = changed.toLowerCase();
      for (const character of changed) {
        const alone = PUNCTUATION.test(character) || CHINESE.test(character);
        if ((SPACE.test(character) || alone) && word.length) {
          yield word;
          word = [];
        }
        if (SPACE.test(character)) continue;
        if (alone) yield [{ character, start, end: place }];
        else word.push({ character, start, end: place });
      }
    }
    if (word.length) yield word;
  }

  // Greedy longest match first.
  #cutWord(word, pieces) {
    const found = [];
    let begin = word.length > this.longest ? -1 : 0;
    while (begin >= 0 && begin < word.length) {
      let end = word.length;
      let id;
      for (; end > begin; end--) {
        const part = word.slice(begin, end).map((each) => each.character).join("");
        id = this.vocabulary[begin ? this.prefix + part : part];
        if (id !== undefined) break;
      }
      if (end === begin) begin = -1;
      else {
        found.push([id, word[begin].start, word[end - 1].end]);
        begin = end;
      }
    }
    const cut = begin < 0 ? [[this.unknown, word[0].start, word.at(-1).end]] : found;
    for (const [id, start, end] of cut) {
      pieces.ids.push(id);
      pieces.starts.push(start);
      pieces.ends.push(end);
    }
  }
}
