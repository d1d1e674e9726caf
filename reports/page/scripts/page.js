// What every part of the page stands on: elements, numbers in words, and the parcels that hold the runs.

const ALL = -1; // in place of a row's number: every row
const WRITTEN = "written"; // in place of a cell: the row as it is written
const MANY = 40; // runs that are listed at first
const $ = (id) => document.getElementById(id);
const many = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// Text enters the page as text only: an element's children are nodes or strings, never markup.
const SVG = new Set(["svg", "g", "line", "path", "rect", "text", "circle", "title", "polygon"]);
function el(name, attributes = {}, ...children) {
  const made = SVG.has(name)
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    if (key === "on") for (const [event, heard] of Object.entries(value)) made.addEventListener(event, heard);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(
    ...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return made;
}
const badge = (mark) => el("span", { class: "mark", "data-mark": mark }, mark);

const opened = new Map();
function parcel(name) {
  if (!opened.has(name)) opened.set(name, unpack($(name).textContent));
  return opened.get(name);
}
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}
