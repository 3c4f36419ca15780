"use strict";
// Draws /openapi.json. Text enters the page as text only, never as HTML.

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function resolve(schema, api) {
  if (!schema || !schema.$ref) return schema || {};
  return schema.$ref.slice(2).split("/").reduce((value, key) => value[key], api);
}

function typeOf(schema, api) {
  const found = resolve(schema, api);
  if (found.enum) return found.enum.join(" | ");
  if (found.const !== undefined) return String(found.const);
  if (found.anyOf) return found.anyOf.map((each) => typeOf(each, api)).filter((type) => type !== "null").join(" | ");
  if (found.type === "array") return `list of ${typeOf(found.items, api)}`;
  return found.type || "any";
}

function fieldTable(schema, api) {
  const table = element("table");
  const head = table.appendChild(element("thead")).appendChild(element("tr"));
  for (const title of ["key", "type", "default", ""]) head.appendChild(element("th", title, { scope: "col" }));
  const body = table.appendChild(element("tbody"));
  for (const [key, field] of Object.entries(schema.properties || {})) {
    const row = body.appendChild(element("tr"));
    row.appendChild(element("td")).appendChild(element("code", key));
    row.appendChild(element("td", typeOf(field, api)));
    row.appendChild(element("td", field.default === undefined || field.default === null ? "" : String(field.default)));
    row.appendChild(element("td", field.description || ""));
  }
  return table;
}

function tryOut(section, path, method, body, types) {
  const example = (body && body.examples && body.examples[0]) || {};
  const where = element("input", undefined, { value: path, "aria-label": "Path" });
  const input = element("textarea", JSON.stringify(example, null, 2), { "aria-label": "Body of the request", spellcheck: "false" });
  const accept = element("select", undefined, { "aria-label": "Format of the response" });
  for (const type of types) accept.appendChild(element("option", type));
  const send = element("button", "Send", { type: "button" });
  const output = element("pre", "", { role: "status" });
  output.hidden = true;
  if (path.includes("{")) section.appendChild(where);
  if (body) section.appendChild(input);
  section.append(accept, " ", send, output);
  send.addEventListener("click", async () => {
    const headers = { Accept: accept.value || "*/*" };
    const key = document.getElementById("key").value;
    if (key) headers.Authorization = `Bearer ${key}`;
    if (body) headers["Content-Type"] = "application/json";
    send.disabled = true;
    output.hidden = false;
    output.textContent = "…";
    try {
      const response = await fetch(where.value, { method, headers, body: body ? input.value : undefined });
      const text = await response.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON */ }
      output.textContent = `${response.status} ${response.statusText}\n\n${shown}`;
    } catch (error) {
      output.textContent = `The server did not answer: ${error.message}`;
    }
    send.disabled = false;
  });
}

async function draw() {
  const place = document.getElementById("operations");
  const response = await fetch("/openapi.json");
  const api = await response.json();
  place.replaceChildren();
  for (const [path, operations] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const section = place.appendChild(element("section"));
      const title = section.appendChild(element("h2"));
      title.append(element("span", method.toUpperCase(), { class: "method" }), element("code", path));
      section.appendChild(element("p", operation.summary || ""));
      const content = operation.requestBody && operation.requestBody.content["application/json"];
      const body = content ? resolve(content.schema, api) : null;
      if (body) section.append(element("p", body.description || ""), fieldTable(body, api));
      const answer = operation.responses["200"];
      tryOut(section, path, method.toUpperCase(), body, Object.keys((answer && answer.content) || {}));
    }
  }
}

draw().catch((error) => {
  document.getElementById("operations").textContent = `The description cannot be read: ${error.message}`;
});
