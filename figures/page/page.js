"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const has = (text, words) => words.every((w) => text.includes(w));
  const wordsOf = (input) => input.value.toLowerCase().split(/\s+/).filter(Boolean);

  // Claims, or compared quantities: by what is ticked, by words.
  const filters = document.querySelector(".filters");
  const items = all("[data-verdict]");
  const filter = () => {
    const words = wordsOf(filters.elements.words), chosen = {};
    for (const box of all("input[type=checkbox]", filters)) (chosen[box.name] ??= []).push(box.checked ? box.value : null);
    let shown = 0;
    for (const item of items) {
      item.hidden = !(Object.keys(chosen).every((name) => chosen[name].includes(item.dataset[name])) && has(item.textContent.toLowerCase(), words));
      shown += !item.hidden;
    }
    filters.querySelector("output").textContent = `${shown} of ${items.length} ${filters.dataset.of}`;
  };
  if (filters) {
    filters.hidden = false;
    filters.addEventListener("input", filter);
    filters.addEventListener("submit", (e) => e.preventDefault());
    filter();
  }

  // Tables sort by a click on a column's head: numbers as numbers, inf last.
  const numberOf = (text) => {
    const t = text.replace(/−/g, "-").trim();
    if (/^(inf|∞)/.test(t)) return Infinity;
    const m = t.match(/^[-+]?[\d.]+(e[-+]?\d+)?/i);
    return m ? parseFloat(m[0]) : NaN;
  };
  for (const table of all("table.sortable")) {
    const heads = all("thead th", table);
    heads.forEach((th, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener("click", () => {
        const down = th.getAttribute("aria-sort") === "ascending";
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = all("tbody tr", table).map((row) => {
          const cell = row.cells[column];
          const text = cell ? (cell.firstChild ? cell.firstChild.textContent : "") : "";
          return { row, text, number: numberOf(text) };
        });
        rows.sort((a, b) => {
          const plain = isNaN(a.number) - isNaN(b.number);
          if (plain) return plain; // what has no number is last either way
          const order = isNaN(a.number) ? a.text.localeCompare(b.text) : a.number - b.number || 0;
          return down ? -order : order;
        });
        table.tBodies[0].append(...rows.map((r) => r.row));
      });
    });
  }

  // Numbers are unpacked on the way out.
  for (const link of all("a[download$='.csv.gz']")) {
    link.addEventListener("click", async (e) => {
      e.preventDefault();
      const packed = Uint8Array.from(atob(link.href.split(",")[1]), (c) => c.charCodeAt(0));
      const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
      const out = document.createElement("a");
      out.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      out.download = link.download.replace(/\.gz$/, "");
      out.click();
      URL.revokeObjectURL(out.href);
    });
  }

  // What an address names is opened.
  const openTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();
})();
