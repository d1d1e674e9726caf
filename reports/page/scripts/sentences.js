// The sentences of the seeds: they stand in the page as text, and are only filtered here.

function filterSentences() {
  for (const seed of document.querySelectorAll(".seed")) {
    const form = seed.querySelector("form"),
      all = seed.querySelector(".tally").textContent,
      lines = [...seed.querySelectorAll("tbody tr")].map((line) => [line, line.textContent.toLowerCase()]);
    const read = () => {
      const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean),
        result = form.elements.result.value;
      let shown = 0;
      for (const [line, text] of lines) {
        line.hidden = (result && line.dataset.result !== result) || !words.every((word) => text.includes(word));
        shown += !line.hidden;
      }
      for (const part of seed.querySelectorAll(".part")) part.hidden = !part.querySelector("tbody tr:not([hidden])");
      seed.querySelector(".empty").hidden = shown > 0;
      seed.querySelector(".tally").textContent =
        shown === lines.length ? all : `${shown} of ${many(lines.length, "sentence")}.`;
    };
    form.hidden = false;
    form.addEventListener("input", read);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(read));
  }
}
