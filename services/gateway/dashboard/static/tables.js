// Makes tables sort, filter and hide columns; without this file they are read as they are.
// The address keeps the view, so that a copied link shows the same rows.
"use strict";
(() => {
  const LEAST_ROWS = 4;
  const put = (tag, parent, text, name) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (name) made.className = name;
    parent.append(made);
    return made;
  };
  const view = new URLSearchParams(location.search);
  const keep = (key, value) => {
    if (value) view.set(key, value); else view.delete(key);
    const query = view.toString();
    history.replaceState(null, "", location.pathname + (query ? `?${query}` : "") + location.hash);
  };
  const valueOf = (row, n) => {
    const cell = row.cells[n], text = cell ? cell.textContent.trim() : "";
    const number = Number(text.split(/[\s[(]/)[0].replace(/,/g, "").replace("\u2212", "-"));
    return cell && cell.classList.contains("number") && text && !Number.isNaN(number) ? number : text.toLowerCase();
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : typeof a === "number" ? -1 : typeof b === "number" ? 1 : a.localeCompare(b, "en", { numeric: true });

  [...document.querySelectorAll("table.cards")].forEach((table, place) => {
    const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
    if (rows.length < LEAST_ROWS) return;
    const tools = document.createElement("div"), key = (what) => `${what}${place || ""}`;
    tools.className = "tools";
    (table.closest(".wide") || table).before(tools);

    const find = put("label", tools, "Filter "), typed = put("input", find);
    typed.type = "search";
    typed.value = view.get(key("filter")) || "";
    const told = put("span", tools, "", "said");
    told.setAttribute("role", "status");
    const filter = () => {
      const wanted = typed.value.trim().toLowerCase().split(/\s+/);
      let left = 0;
      rows.forEach((row) => {
        const text = row.textContent.toLowerCase();
        row.hidden = !wanted.every((word) => text.includes(word));
        left += !row.hidden;
      });
      told.textContent = left < rows.length ? `${left} of ${rows.length} rows` : "";
      keep(key("filter"), typed.value.trim());
    };
    typed.addEventListener("input", filter);

    const sort = (n, down) => {
      heads.forEach((head, m) => head.setAttribute("aria-sort", m !== n ? "none" : down ? "descending" : "ascending"));
      const ordered = rows.map((row) => [valueOf(row, n), row]).sort((a, b) => down ? compare(b[0], a[0]) : compare(a[0], b[0]));
      body.append(...ordered.map(([, row]) => row));
      keep(key("sort"), `${down ? "-" : ""}${n}`);
    };
    heads.forEach((head, n) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...[...head.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE));
      head.prepend(button);
      button.addEventListener("click", () => sort(n, head.getAttribute("aria-sort") === "ascending"));
    });

    const columns = put("details", tools, "", "columns");
    put("summary", columns, "Columns");
    const hidden = new Set((view.get(key("hide")) || "").split(".").filter(Boolean).map(Number));
    const show = () => {
      [...table.rows].forEach((row) => [...row.cells].forEach((cell, n) => { cell.hidden = hidden.has(n); }));
      keep(key("hide"), [...hidden].join("."));
    };
    heads.forEach((head, n) => {
      const label = put("label", columns), box = document.createElement("input");
      box.type = "checkbox";
      box.checked = !hidden.has(n);
      label.append(box, ` ${head.textContent}`);
      box.addEventListener("change", () => { if (box.checked) hidden.delete(n); else hidden.add(n); show(); });
    });

    const sorted = view.get(key("sort"));
    if (sorted) sort(Math.abs(Number(sorted)) || 0, sorted.startsWith("-"));
    if (typed.value) filter();
    if (hidden.size) show();
  });
})();
