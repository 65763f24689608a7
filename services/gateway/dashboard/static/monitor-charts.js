// Draws a monitor's charts anew where they can be explored; without this file the page's own pictures stay.
// Whatever comes from the server is a number or is set as text: nothing here makes HTML of a string.
"use strict";
(() => {
  const HEIGHT = 220, MOST_POINTS = 100, STEP = 0.25;
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const DASHES = [[], [8, 4], [2, 3]];
  const HUES = ["--blue", "--orange", "--green", "--purple", "--red", "--ink"];

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const put = (tag, parent, text, name) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (name) made.className = name;
    parent.append(made);
    return made;
  };
  const said = (value) => value === null || value === undefined ? "-"
    : Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3, useGrouping: false });
  const moment = (at) => `${new Date(at * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

  // No line crosses from one epoch, or one test, to the next: an empty moment stands between.
  const columnsOf = (chart, names, parted) => {
    const found = [[], ...names.map(() => [])], rounds = [];
    chart.at.forEach((at, n) => {
      if (n && parted.some((by) => chart[by][n] !== chart[by][n - 1])) {
        found[0].push(at - 0.001);
        names.forEach((_, i) => found[i + 1].push(null));
        rounds.push(null);
      }
      found[0].push(at);
      names.forEach((name, i) => found[i + 1].push(chart[name][n]));
      rounds.push(chart.round[n]);
    });
    return { columns: found, rounds };
  };
  const epochStarts = (chart) => chart.at.filter((_, n) => n && chart.epoch[n] !== chart.epoch[n - 1]);

  const level = (plot, value, paint, dashes = []) => {
    const { ctx, bbox } = plot, y = plot.valToPos(value, "y", true);
    if (y < bbox.top || y > bbox.top + bbox.height) return;
    ctx.save();
    ctx.strokeStyle = paint;
    ctx.setLineDash(dashes);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  };
  const upright = (plot, at) => {
    const { ctx, bbox } = plot, x = plot.valToPos(at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.save();
    ctx.strokeStyle = color("--soft");
    ctx.setLineDash([2, 3]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  };
  const tolerated = (plot, tolerance) => {
    const { ctx, bbox } = plot, inside = (y) => Math.min(Math.max(y, bbox.top), bbox.top + bbox.height);
    const top = inside(plot.valToPos(tolerance, "y", true)), low = inside(plot.valToPos(-tolerance, "y", true));
    ctx.save();
    ctx.fillStyle = color("--calm");
    ctx.fillRect(bbox.left, top, bbox.width, low - top);
    ctx.restore();
  };

  // Times are UTC; the day stands below the first of its moments.
  const timeWords = (plot, moments, axis, space, step) => moments.map((at, n) => {
    const said = new Date(at * 1000).toISOString(), before = n ? new Date(moments[n - 1] * 1000).toISOString() : "";
    const day = `${Number(said.slice(8, 10))} ${MONTHS[Number(said.slice(5, 7)) - 1]}`;
    if (step >= 86400) return said.slice(0, 4) === before.slice(0, 4) ? day : `${day}\n${said.slice(0, 4)}`;
    const time = said.slice(11, step < 60 ? 19 : 16);
    return said.slice(0, 10) === before.slice(0, 10) ? time : `${time}\n${day}`;
  });
  const axes = () => [0, 1].map((n) => ({
    ...(n ? {} : { values: timeWords, space: 64 }),
    stroke: color("--soft"), font: "12px system-ui, sans-serif", size: n ? 62 : 44,
    grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1, size: 4 },
  }));
  const line = (label, hue, more = {}) => ({ label, stroke: color(hue), width: 2, value: (_, v) => said(v), ...more });

  // Keeps the charts of one card on the same stretch of time.
  const stretchOf = (bar) => {
    const plots = [], kept = { zoomed: false }, whole = () => {
      const ends = plots.map((each) => each.data[0]);
      return [Math.min(...ends.map((x) => x[0])), Math.max(...ends.map((x) => x[x.length - 1]))];
    };
    let moving = false;
    const to = (min, max) => {
      if (moving || !plots.length || !(max > min)) return;
      moving = true;
      const [first, last] = whole();
      kept.zoomed = min > first || max < last;
      plots.forEach((each) => each.setScale("x", { min, max }));
      moving = false;
    };
    const by = (change) => () => {
      const { min, max } = plots[0].scales.x, [first, last] = whole();
      const [low, high] = change(min, max, max - min);
      to(Math.max(first, low), Math.min(last, high));
    };
    [["+", "Closer", (a, b, w) => [a + STEP * w, b - STEP * w]],
      ["−", "Wider", (a, b, w) => [a - w / 2, b + w / 2]],
      ["‹", "Earlier", (a, b, w) => [a - STEP * w, b - STEP * w]],
      ["›", "Later", (a, b, w) => [a + STEP * w, b + STEP * w]]].forEach(([sign, name, change]) => {
      const button = put("button", bar, sign, "quiet");
      button.type = "button";
      button.title = name;
      button.setAttribute("aria-label", name);
      button.addEventListener("click", by(change));
    });
    const all = put("button", bar, "All", "quiet");
    all.type = "button";
    all.addEventListener("click", () => to(...whole()));
    return { plots, kept, to };
  };

  const plotted = (place, title, stretch, options, columns) => {
    const scales = {
      // Of one moment uPlot would make a stretch of years.
      x: { time: true, range: (u, min, max) => u.data[0].length > 1 && max > min ? [min, max] : [u.data[0][0] - 60, u.data[0][0] + 60] },
      y: { range: (_, min, max) => stretch.kept.zoomed ? padded(min, max) : options.range },
    };
    const whenLeft = (plot) => plot.setLegend({ idx: lastOf(plot) });
    const plot = new uPlot({
      width: place.clientWidth || 320, height: HEIGHT, scales, axes: axes(),
      tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
      cursor: { drag: { x: true, y: false }, points: { size: 8 } },
      legend: options.legend || {}, bands: options.bands || [], series: options.series,
      hooks: {
        drawAxes: [(u) => options.under(u)],
        setScale: [(u, key) => {
          if (key !== "x") return;
          stretch.to(u.scales.x.min, u.scales.x.max);
          if (!(u.cursor.left >= 0)) whenLeft(u);
        }],
        setCursor: [(u) => { if (u.cursor.idx === null || u.cursor.left < 0) whenLeft(u); }],
        setLegend: options.setLegend ? [options.setLegend] : [],
      },
    }, columns, place);
    plot.over.addEventListener("dblclick", () => stretch.to(columns[0][0], columns[0][columns[0].length - 1]));
    stretch.plots.push(plot);
    reachable(plot, title);
    whenLeft(plot);
    return plot;
  };
  const padded = (min, max) => {
    const pad = (max - min) * 0.06 || 1;
    return min === null ? [0, 1] : [min - pad, max + pad];
  };
  const lastOf = (plot) => {
    const x = plot.data[0], { min, max } = plot.scales.x;
    let last = x.length - 1;
    while (last > 0 && (x[last] > max || plot.data.slice(1).every((each) => each[last] === null))) last -= 1;
    return min === undefined ? x.length - 1 : last;
  };

  // Arrow keys go from round to round, and what stands there is read out.
  const reachable = (plot, title) => {
    plot.root.tabIndex = 0;
    plot.root.setAttribute("role", "group");
    plot.root.setAttribute("aria-label", `${title}. Arrow keys go from round to round.`);
    const legend = plot.root.querySelector(".u-legend");
    plot.root.addEventListener("focus", () => legend && legend.setAttribute("aria-live", "polite"));
    plot.root.addEventListener("blur", () => legend && legend.removeAttribute("aria-live"));
    plot.root.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const x = plot.data[0], shown = plot.legend.idx ?? x.length - 1;
      let next = shown;
      do next += step; while (x[next] !== undefined && plot.data.slice(1).every((each) => each[next] === null));
      if (x[next] === undefined) return;
      plot.setCursor({ left: plot.valToPos(x[next], "x"), top: HEIGHT / 3 });
    });
  };

  const when = (rounds) => ({ label: "moment", value: (plot, at, _, idx) => {
    const n = idx ?? plot.legend.idx;
    return at === null || at === undefined ? "-" : `${moment(at)}, round ${rounds[n] ?? "-"}`;
  } });

  const gapPlot = (place, chart, stretch) => {
    const { columns, rounds } = columnsOf(chart, ["gap", "low", "high", "units"], ["epoch"]);
    const edge = { width: 0, points: { show: false }, stroke: "transparent" };
    return plotted(place, `Gap over time: ${chart.title}`, stretch, {
      range: chart.range, bands: [{ series: [3, 2], fill: color("--band") }],
      under: (plot) => {
        if (chart.tolerance) tolerated(plot, chart.tolerance);
        level(plot, 0, color("--soft"));
        epochStarts(chart).forEach((at) => upright(plot, at));
      },
      series: [when(rounds), line("gap", "--blue", { points: { show: chart.at.length <= MOST_POINTS, size: 5 } }),
        line("from", "--blue", edge), line("to", "--blue", edge),
        { label: "units", scale: "units", show: true, stroke: "transparent", width: 0, points: { show: false }, value: (_, v) => v === null || v === undefined ? "-" : String(v) }],
    }, columns);
  };
  const evidencePlot = (place, chart, stretch) => {
    const { columns, rounds } = columnsOf(chart, ["log_e", "bound", "log_e_effect"], ["epoch", "test"]);
    const effects = chart.log_e_effect.some((value) => value !== null);
    const bounds = new Set(chart.bound);
    return plotted(place, `Evidence over time: ${chart.title}`, stretch, {
      range: chart.evidence_range,
      under: (plot) => {
        level(plot, 0, color("--soft"));
        if (bounds.size === 1) level(plot, chart.bound[0], color("--red"), [5, 4]);
        epochStarts(chart).forEach((at) => upright(plot, at));
      },
      series: [when(rounds), line("evidence", "--blue", { points: { show: chart.at.length <= MOST_POINTS, size: 5 } }),
        line("needed for an alarm", "--red", { dash: [5, 4], width: 1.5, points: { show: false } }),
        ...(effects ? [line("group effect", "--orange", { dash: [2, 3], points: { show: false } })] : [])],
    }, effects ? columns : columns.slice(0, 3));
  };

  // All drawn comparisons as shares of what an alarm needs; each can be left out.
  const togetherPlot = (place, choices, charts, stretch) => {
    const tables = charts.map((chart) => {
      const [at, evidence, bound] = columnsOf(chart, ["log_e", "bound"], ["epoch"]).columns;
      return [at, evidence.map((each, n) => each === null ? null : each / bound[n])];
    });
    const columns = uPlot.join(tables), hue = (n) => HUES[n % HUES.length];
    const numbers = charts.map((chart, n) => {
      const label = put("label", choices), box = put("input", label);
      box.type = "checkbox";
      box.checked = true;
      put("span", label, "", "swatch").style.background = color(hue(n));
      put("span", label, ` ${chart.title} `);
      box.addEventListener("change", () => plot.setSeries(n + 1, { show: box.checked }));
      return put("b", label, "-");
    });
    const shares = columns.slice(1).flat().filter((each) => each !== null && each !== undefined);
    const plot = plotted(place, "How near each comparison is to an alarm", stretch, {
      range: padded(Math.min(0, ...shares), Math.max(1, ...shares)),
      legend: { show: false },
      under: (u) => {
        level(u, 0, color("--soft"));
        level(u, 1, color("--red"), [5, 4]);
        new Set(charts.flatMap(epochStarts)).forEach((at) => upright(u, at));
      },
      series: [{}, ...charts.map((chart, n) => line(chart.title, hue(n), { dash: DASHES[n % 3], points: { show: false } }))],
      setLegend: (u) => numbers.forEach((each, n) => {
        const value = u.legend.idx === null || u.legend.idx === undefined ? null : u.data[n + 1][u.legend.idx];
        each.textContent = value === null || value === undefined ? "-" : `${Math.round(100 * value)} %`;
      }),
    }, columns);
    return plot;
  };

  const drawn = [];
  const drawCard = (card, chart) => {
    card.querySelectorAll(".explored").forEach((each) => each.remove());
    const bar = document.createElement("p");
    bar.className = "explored zoom";
    put("span", bar, "Drag over a stretch of time to look closer, click twice for all. ", "about");
    const stretch = stretchOf(bar);
    card.querySelectorAll("figure").forEach((figure, n) => {
      const place = document.createElement("div");
      place.className = "explored";
      figure.after(place);
      figure.classList.add("replaced");
      drawn.push((n ? evidencePlot : gapPlot)(place, chart, stretch));
    });
    card.append(bar);
  };
  const drawTogether = (section, charts) => {
    section.querySelectorAll(".explored").forEach((each) => each.remove());
    if (charts.length < 2) return;
    const place = put("div", section, "", "explored"), choices = put("fieldset", section, "", "explored choices");
    put("legend", choices, "Comparisons, and how near each is to an alarm");
    const bar = put("p", section, "", "explored zoom");
    section.hidden = false;
    drawn.push(togetherPlot(place, choices, charts, stretchOf(bar)));
  };

  const region = document.querySelector("[data-charts]");
  if (!region || !window.uPlot) return;
  let charts = [];
  const draw = () => {
    drawn.splice(0).forEach((each) => each.destroy());
    region.querySelectorAll("[data-comparison]").forEach((card) => {
      const chart = charts.find((each) => each.comparison === card.dataset.comparison);
      if (chart && chart.at.length) drawCard(card, chart);
    });
    const together = region.querySelector("[data-together]");
    if (together) drawTogether(together, charts.filter((each) => each.at.length));
  };
  const load = () => fetch(region.dataset.charts, { credentials: "same-origin", headers: { accept: "application/json" } })
    .then((reply) => reply.ok ? reply.json() : Promise.reject(new Error(`HTTP ${reply.status}`)))
    .then((found) => { charts = found; draw(); })
    .catch(() => region.classList.add("without-charts")); // the page's own pictures stay
  load();
  document.addEventListener("biaswatch:changed", load);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  let waiting = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => drawn.forEach((each) => {
      const width = each.root.parentElement.clientWidth;
      if (width && width !== each.width) each.setSize({ width, height: HEIGHT });
    }));
  }).observe(region);
})();
