// Lets people explore the rows of groups: zoom along the axis, pick groups, read the place under the pointer.
// The pictures are the page's own; only the stretch that they show changes.
"use strict";
(() => {
  const ACROSS = 1000, LEAST = 10;

  const put = (tag, parent, text, name) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (name) made.className = name;
    parent.append(made);
    return made;
  };
  const button = (parent, text, does) => {
    const made = put("button", parent, text, "quiet");
    made.type = "button";
    made.addEventListener("click", does);
    return made;
  };
  const said = (value) => String(Number(value.toPrecision(4)));

  document.querySelectorAll(".rows[data-low]").forEach((table) => {
    const low = Number(table.dataset.low), high = Number(table.dataset.high);
    const rows = [...table.querySelectorAll(".row:not(.axis)")];
    const pictures = rows.map((row) => row.querySelector("svg")).filter(Boolean);
    const ends = table.querySelectorAll(".axis .ends-of > span");
    const words = [...ends].map((each) => each.textContent);
    const tools = document.createElement("div");
    tools.className = "tools";
    table.before(tools);
    let shown = [0, ACROSS], begun = null;

    const valueAt = (x) => low + (high - low) * x / ACROSS;
    const show = (from, to) => {
      shown = [Math.max(0, from), Math.min(ACROSS, to)];
      if (shown[1] - shown[0] < LEAST) shown = [0, ACROSS];
      const whole = shown[0] === 0 && shown[1] === ACROSS;
      pictures.forEach((each) => {
        const box = each.viewBox.baseVal;
        each.setAttribute("viewBox", `${shown[0]} 0 ${shown[1] - shown[0]} ${box.height}`);
      });
      ends.forEach((each, n) => {
        const last = n === ends.length - 1;
        each.textContent = whole ? words[n] : n === 0 ? said(valueAt(shown[0])) : last ? said(valueAt(shown[1])) : "";
      });
    };
    const around = (share) => {
      const middle = (shown[0] + shown[1]) / 2, half = (shown[1] - shown[0]) * share / 2;
      show(middle - half, middle + half);
    };
    const along = (share) => {
      const width = shown[1] - shown[0];
      const from = Math.min(Math.max(0, shown[0] + share * width), ACROSS - width);
      show(from, from + width);
    };

    const find = put("label", tools, "Groups ");
    const typed = put("input", find);
    typed.type = "search";
    typed.placeholder = "part of a name";
    const only = button(tools, "Only picked", () => {
      only.setAttribute("aria-pressed", String(only.getAttribute("aria-pressed") !== "true"));
      pick();
    });
    only.setAttribute("aria-pressed", "false");
    [["+", "Closer", () => around(0.5)], ["−", "Wider", () => around(2)],
      ["‹", "Left", () => along(-0.25)], ["›", "Right", () => along(0.25)]].forEach(([sign, name, does]) => {
      const made = button(tools, sign, does);
      made.title = name;
      made.setAttribute("aria-label", name);
    });
    button(tools, "All", () => {
      typed.value = "";
      only.setAttribute("aria-pressed", "false");
      rows.forEach((row) => { row.querySelector("input").checked = false; });
      show(0, ACROSS);
      pick();
    });
    const reading = put("span", tools, "", "said");
    reading.setAttribute("role", "status");

    const pick = () => {
      const wanted = typed.value.trim().toLowerCase(), picked = only.getAttribute("aria-pressed") === "true";
      let left = 0;
      rows.forEach((row) => {
        const named = row.querySelector("bdi").textContent.toLowerCase().includes(wanted);
        row.hidden = !named || (picked && !row.querySelector("input").checked);
        left += !row.hidden;
      });
      reading.textContent = left < rows.length ? `${left} of ${rows.length} groups` : "";
    };
    typed.addEventListener("input", pick);

    rows.forEach((row) => {
      const box = document.createElement("input");
      box.type = "checkbox";
      box.setAttribute("aria-label", `Pick ${row.querySelector("bdi").textContent}`);
      box.addEventListener("change", pick);
      row.firstElementChild.prepend(box, " ");
    });

    const placeOf = (picture, event) => {
      const box = picture.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      return shown[0] + share * (shown[1] - shown[0]);
    };
    pictures.forEach((picture, n) => {
      picture.classList.add("zoomable");
      picture.addEventListener("pointerdown", (event) => { begun = placeOf(picture, event); });
      picture.addEventListener("pointermove", (event) => {
        const under = event.target.closest("rect.bar"), group = rows[n].querySelector("bdi").textContent;
        const bar = under && under.querySelector("title");
        const there = bar ? bar.textContent : `${rows[n].querySelector(".said").textContent}; here ${said(valueAt(placeOf(picture, event)))}`;
        reading.textContent = `${group}: ${there}`;
      });
      picture.addEventListener("pointerup", (event) => {
        const at = placeOf(picture, event);
        if (begun !== null && Math.abs(at - begun) >= LEAST) show(Math.min(at, begun), Math.max(at, begun));
        begun = null;
      });
      picture.addEventListener("dblclick", () => show(0, ACROSS));
    });
  });
})();
