// Make elements.  Text enters the page as text only, never as HTML.

export const byId = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content.filter((each) => each !== null && each !== undefined));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function svgElement(name, attributes = {}, ...content) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

// Fill a list of models; it is shown only if there is a choice.
export function offer(select, names) {
  select.replaceChildren(...names.map((name) => element("option", {}, name)));
  select.parentElement.hidden = names.length < 2;
}

// Show an error of a form: below the field that caused it, or else above the buttons.
export function complain(place, message, field = null) {
  if (field) field.closest(".field, fieldset").append(place);
  else place.closest("form").lastElementChild.before(place);
  place.textContent = message;
  if (!field) return;
  field.setAttribute("aria-invalid", "true");
  field.addEventListener("input", () => field.removeAttribute("aria-invalid"), { once: true });
  field.focus();
}

export function forgive(place) {
  place.textContent = "";
  for (const field of place.closest("form").querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
}

// On a narrow screen results begin below the form.
export function reveal(heading) {
  if (heading.getBoundingClientRect().top > 0.8 * innerHeight) heading.scrollIntoView();
}

export const plural = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
