// Read a text file in the browser: it goes to the server only as the text of a question.

const LONGEST = 4 << 20;

// Returns the text; throws an error of one line that says what is taken.
export async function readText(file) {
  if (!/\.(txt|md)$/i.test(file.name)) {
    throw new Error(`${file.name}: expected a text file, .txt or .md; index other documents (syntagma index) and serve the index.`);
  }
  if (file.size > LONGEST) throw new Error(`${file.name}: expected at most 4 MB; cut it into parts, or index it and serve the index.`);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name}: expected text in UTF-8; save it in that encoding.`);
  }
  if (text.includes("\0")) throw new Error(`${file.name}: expected text, got binary data; save it as .txt or .md.`);
  if (!text.trim()) throw new Error(`${file.name}: expected text, got an empty file.`);
  return text;
}

// Call `take` with a file that is chosen, or dropped on the field of the text.
export function takeFiles(input, field, take) {
  input.addEventListener("change", () => {
    if (input.files.length) take(input.files[0]);
    // So that the same file can be chosen again.
    input.value = "";
  });
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    field.addEventListener(kind, (event) => {
      if (!event.dataTransfer || !event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      field.classList.toggle("over", kind === "dragenter" || kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
    });
  }
}
