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

  // Panels with the words.
  const find = document.querySelector(".find");
  const panels = all(".panel[data-find]");
  const findPanels = () => {
    const words = wordsOf(find.elements.find);
    let shown = 0;
    for (const p of panels) {
      p.hidden = !has(p.dataset.find, words);
      shown += !p.hidden;
    }
    for (const f of all("figure.panels")) {
      const own = all(".panel", f);
      f.hidden = words.length > 0 && !own.some((p) => !p.hidden);
      for (const e of all(".empty", f)) e.hidden = words.length > 0;
      const grid = f.querySelector(".grid");
      if (grid) grid.style.gridTemplateColumns = words.length > 0 ? "repeat(auto-fill, minmax(min(100%, 20rem), 1fr))" : "";
    }
    find.querySelector("output").textContent = words.length > 0 ? `${shown} of ${panels.length} panels` : "";
  };
  if (find) {
    find.hidden = false;
    find.addEventListener("input", findPanels);
    find.addEventListener("submit", (e) => e.preventDefault());
  }

  // Tables sort by a click on a column's head: numbers as numbers, inf last.
  const numberOf = (text) => {
    const t = text.replace(/−/g, "-").trim();
    if (/^inf/.test(t)) return Infinity;
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

  // Lines are switched by their entries in the legend.
  for (const button of all("button.entry")) {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", on);
      for (const part of all(`[data-line="${CSS.escape(button.dataset.line)}"]`, button.closest("figure"))) {
        if (part !== button) part.classList.toggle("off", !on);
      }
    });
  }

  // The point nearest to the pointer, or the next by the arrow keys, is read out.
  const readable = (chart) => {
    const marks = () => all(".point, .lost", chart).filter((m) => !m.closest(".off"));
    const at = (m) => { const b = m.getBBox(); return [b.x + b.width / 2, b.y + b.height / 2]; };
    const read = (mark) => {
      all(".on", chart).forEach((m) => m.classList.remove("on"));
      const home = chart.closest("figure, dialog, .curve");
      const out = home && home.querySelector(".reading");
      if (mark) mark.classList.add("on");
      if (out) out.textContent = mark ? mark.querySelector("title").textContent : "";
    };
    chart.addEventListener("pointermove", (e) => {
      const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(chart.getScreenCTM().inverse());
      let best = null, least = 18 ** 2;
      for (const m of marks()) {
        const [x, y] = at(m), d = (x - p.x) ** 2 + (y - p.y) ** 2;
        if (d < least) [best, least] = [m, d];
      }
      read(best);
    });
    chart.addEventListener("pointerleave", () => read(null));
    chart.addEventListener("keydown", (e) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      const list = marks();
      if (!by || list.length === 0) return;
      e.preventDefault();
      const now = list.findIndex((m) => m.classList.contains("on"));
      read(list[now < 0 ? 0 : (now + by + list.length) % list.length]);
    });
  };
  all("svg.chart").forEach(readable);

  // A panel is enlarged in a dialog.
  const dialog = document.querySelector("dialog.large");
  for (const button of all(".enlarge")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const chart = button.closest(".panel").querySelector("svg").cloneNode(true);
      const title = document.createElement("h4");
      title.textContent = button.getAttribute("aria-label").replace("Enlarge ", "");
      dialog.querySelector(".panel").replaceChildren(title, chart);
      readable(chart);
      dialog.showModal();
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
