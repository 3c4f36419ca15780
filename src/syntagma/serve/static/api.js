// Call the server.  Its refusals are problems (RFC 9457) whose detail is one clear line.

export class Problem extends Error {
  constructor(detail, status) {
    super(detail);
    this.status = status;
  }
}

// The key is in memory only; closing the page forgets it.
let key = "";
let askForKey = () => {};

export function useKey(given) {
  key = given;
}

export function whenKeyIsNeeded(show) {
  askForKey = show;
}

export async function call(path, { body, accept = "application/json", signal } = {}) {
  const headers = { Accept: accept };
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body) headers["Content-Type"] = "application/json";
  let response;
  try {
    const method = body ? "POST" : "GET";
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    throw reason(error);
  }
  if (response.ok) return response;
  if (response.status === 401) askForKey(key !== "");
  const problem = await response.json().catch(() => ({}));
  throw new Problem(problem.detail || `The server failed (status ${response.status}).`, response.status);
}

// The lines of a stream of JSON, as they come.
export async function* lines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      const parts = (rest + (value || "")).split("\n");
      rest = parts.pop();
      for (const part of parts) yield JSON.parse(part);
      if (done) return;
    }
  } catch (error) {
    throw reason(error);
  } finally {
    reader.cancel().catch(() => {});
  }
}

function reason(error) {
  if (error.name === "AbortError") return error;
  return new Problem("The server cannot be reached; see whether it still runs, and try again.", 0);
}

// Let one request of a form run at a time, and end it when another starts, or by Escape.
export class Running {
  constructor(stopButton) {
    this.stopButton = stopButton;
    this.controller = null;
    stopButton.addEventListener("click", () => this.stop());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.stop();
    });
  }

  // Returns how it ended: done, stopped, or replaced by another.
  async run(work) {
    this.stop();
    const controller = (this.controller = new AbortController());
    this.stopButton.hidden = false;
    try {
      await work(controller.signal);
      return "done";
    } catch (error) {
      if (controller.signal.aborted) return this.controller ? "replaced" : "stopped";
      throw error;
    } finally {
      if (this.controller === controller) this.end();
    }
  }

  stop() {
    if (!this.controller) return;
    this.controller.abort();
    this.end();
  }

  end() {
    this.controller = null;
    const hadFocus = document.activeElement === this.stopButton;
    this.stopButton.hidden = true;
    if (hadFocus) this.stopButton.form.querySelector(".primary").focus();
  }
}
