// Trees of /v1/parse as elements of the page, so that they have its colours and can be read aloud.

import { element, svgElement } from "./dom.js";

const ELEMENTS = new Set(["g", "path", "text", "title", "desc", "line", "rect"]);
const ATTRIBUTES = new Set(
  "class d fill stroke stroke-width stroke-dasharray x y x1 x2 y1 y2 width height transform font-size text-anchor".split(" "),
);
const MARGIN = 12;

// Returns a figure for each sentence.  Call `fit` once they are in the page.
export function trees(svg) {
  // The page has these styles, and the policy refuses them already here.
  const plain = svg.replace(/<style>[^]*?<\/style>/, "");
  const root = new DOMParser().parseFromString(plain, "image/svg+xml").documentElement;
  const sentences = [...root.children].filter((child) => child.getAttribute("role") === "img");
  const tops = sentences.map((group) => Number(/translate\(\S+ (\S+)\)/.exec(group.getAttribute("transform"))[1]));
  tops.push(Number(root.getAttribute("height")));
  return sentences.map((group, number) => figure(root, group, tops[number + 1] - tops[number]));
}

// Drawings of several sentences are as wide as the widest of them: make each as wide as it is.
export function fit(figures) {
  const drawings = figures.map((each) => each.querySelector("svg"));
  const widths = drawings.map((drawing) => drawing.getBBox()).map((box) => Math.ceil(box.x + box.width + MARGIN));
  drawings.forEach((drawing, number) => {
    if (widths[number] <= MARGIN) return;
    drawing.setAttribute("width", widths[number]);
    drawing.setAttribute("viewBox", `0 0 ${widths[number]} ${drawing.getAttribute("height")}`);
  });
}

function figure(root, group, height) {
  const width = root.getAttribute("width");
  const drawing = svgElement("svg", {
    class: "syntagma-svg",
    role: "img",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    fill: "currentColor",
    "font-family": root.getAttribute("font-family"),
    "text-anchor": "middle",
  });
  drawing.append(...copies(group));
  const title = group.querySelector("title").textContent;
  const scroller = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Tree. ${title}` }, drawing);
  return element("div", { class: "tree" }, scroller);
}

// Only what drawings are made of.
function copies(node) {
  return [...node.childNodes].flatMap((child) => {
    if (child.nodeType === Node.TEXT_NODE) return [child.data];
    if (!ELEMENTS.has(child.localName)) return [];
    const kept = [...child.attributes].filter((attribute) => ATTRIBUTES.has(attribute.name));
    const attributes = Object.fromEntries(kept.map((attribute) => [attribute.name, attribute.value]));
    return [svgElement(child.localName, attributes, ...copies(child))];
  });
}
