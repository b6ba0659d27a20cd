"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);

  /* Light and dark: as the system says, until the button is pressed. */
  const root = document.documentElement, theme = $("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const showTheme = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Show the page ${isDark() ? "light" : "dark"}`);
  };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  system.addEventListener("change", showTheme);
  theme.hidden = false;
  showTheme();

  /* What stands folded on the screen is wanted on paper. */
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
  });

  /* Other tables than the ranking: sorts the rows it has by data-value, else by text. */
  const collator = new Intl.Collator(undefined, { numeric: true });
  const compare = (a, b, down) => {
    if (a === b) return 0;
    if (a === null || a === undefined) return 1; /* what is not known comes last, whichever way */
    if (b === null || b === undefined) return -1;
    const order = typeof a === "number" ? a - b : collator.compare(a, b);
    return down ? -order : order;
  };
  const turn = (button) => {
    const head = button.closest("th"), before = head.getAttribute("aria-sort");
    const first = button.dataset.kind === "high" ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    for (const th of head.parentNode.children) if (th.hasAttribute("aria-sort")) th.setAttribute("aria-sort", "none");
    const now = before === first ? other : first;
    head.setAttribute("aria-sort", now);
    return now === "descending";
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    table.addEventListener("click", (event) => {
      const button = event.target.closest("button.sort");
      if (!button) return;
      const at = [...button.closest("tr").children].indexOf(button.closest("th")), down = turn(button);
      const value = (row) => {
        const cell = row.children[at], given = cell.dataset.value;
        if (given === undefined) return cell.textContent.trim();
        return given === "" ? null : Number(given);
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => compare(value(a), value(b), down)));
    });
  }
  /* Curves of many methods: one at a time stands out. */
  for (const chart of document.querySelectorAll(".lines-chart")) {
    const buttons = chart.querySelectorAll("button[data-line]"), lines = chart.querySelectorAll("svg [data-line]");
    chart.addEventListener("click", (event) => {
      const wanted = event.target.closest("[data-line]");
      if (!wanted) return;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.line === wanted.dataset.line));
      for (const line of lines) line.classList.toggle("now", line.dataset.line === wanted.dataset.line);
    });
  }
  if (data.name) ranking();

  function ranking() {
    const table = $("ranking"), body = table.tBodies[0], details = $("details");
    const rows = new Map([...body.rows].map((row) => [Number(row.dataset.i), row]));
    const blank = $("row").content.querySelector("tr");
    const names = data.name.map((name) => String(name));
    const folds = names.map((name) => name.toLocaleLowerCase());
    let key = "rank", down = false, most = data.page, listed = new Set();

    /* Rows beyond the first are made when they are wanted. */
    const rowOf = (i) => {
      if (rows.has(i)) return rows.get(i);
      const row = blank.cloneNode(true), bar = data.bars[i], state = data.state[i];
      row.dataset.i = i;
      row.className = state;
      row.querySelector(".label").textContent = names[i];
      for (const cell of ["rank", "kind", "score", "pvalue", "frequency"]) {
        const place = row.querySelector("." + cell);
        if (place) place.textContent = data.cells[cell === "pvalue" ? data.decides : cell][i];
      }
      row.querySelector(".odd").hidden = !data.odd.includes(i);
      row.querySelector(".badge").textContent = data.status[state];
      row.querySelector(".with").hidden = !data.cells.with[i];
      row.querySelector(".with bdi").textContent = data.cells.with[i];
      row.querySelector(".with .how").textContent = state === "kept" ? "redundant with" : "with";
      const draw = (part, places) => {
        const shape = row.querySelector(part);
        for (const [name, at] of Object.entries(places)) if (at !== null) shape.setAttribute(name, at);
        if (Object.values(places).includes(null)) shape.setAttribute("visibility", "hidden");
        else shape.removeAttribute("visibility");
      };
      draw(".fill", { x: bar[0], width: bar[1] });
      draw(".interval", { x1: bar[2], x2: bar[3] });
      draw(".chance", { x1: bar[4], x2: bar[4] });
      row.classList.toggle("listed", listed.has(i));
      rows.set(i, row);
      return row;
    };

    const show = () => {
      const text = $("text").value.trim().toLocaleLowerCase();
      const only = document.querySelector("input[name=only]:checked").value;
      const fits = (i) =>
        folds[i].includes(text) &&
        (only === "all" || (only === "kept" ? ["kept", "requested"].includes(data.state[i]) : data.relevant[i]));
      const values = key === "name" ? names : data.sort[key];
      const found = names.map((_, i) => i).filter(fits);
      found.sort((a, b) => compare(values[a], values[b], down) || a - b);
      const shown = found.slice(0, most).map(rowOf);
      for (const row of shown) row.setAttribute("aria-expanded", "false"); /* what was open is closed */
      body.replaceChildren(...shown);
      shown.forEach((row, at) => { row.tabIndex = at ? -1 : 0; });
      hide();
      $("none").hidden = found.length > 0;
      $("more").hidden = found.length <= most;
      $("more").textContent = `Show ${Math.min(data.step, found.length - most)} more`;
      const less = shown.length < found.length ? `, the first ${shown.length} shown` : "";
      $("count").textContent = `${found.length} of ${names.length} columns${less}`;
    };
    table.tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button.sort");
      if (!button) return;
      key = button.dataset.key;
      down = turn(button);
      show();
    });
    const refilter = () => { most = data.page; show(); };
    $("tools").addEventListener("input", refilter);
    $("tools").addEventListener("submit", (event) => event.preventDefault());
    $("reset").addEventListener("click", () => { $("tools").reset(); refilter(); $("text").focus(); });
    $("more").addEventListener("click", () => {
      const next = body.querySelectorAll("tr[data-i]").length;
      most += data.step;
      show();
      focus(body.rows[next]);
    });

    /* Paper has no button for more. */
    let onScreen = most;
    addEventListener("beforeprint", () => { onScreen = most; most = Math.max(most, data.step); show(); });
    addEventListener("afterprint", () => { most = onScreen; show(); });

    /* Details beside the row that the pointer or the focus is on; Escape hides them. */
    const hide = () => {
      details.hidden = true;
      for (const row of body.querySelectorAll("[aria-describedby]")) row.removeAttribute("aria-describedby");
    };
    const tell = (row) => {
      if (row.getAttribute("aria-expanded") === "true") { /* what is open says it all */
        hide();
        return;
      }
      const i = Number(row.dataset.i), cells = data.cells;
      const lines = [
        ["Rank", cells.rank[i]], ["Kind", cells.kind[i]], ["Score", cells.score[i]],
        ["Interval", cells.interval[i]], ["By chance", cells.chance[i]], ["p-value", cells.pvalue[i]], ["Adjusted p", cells.adjusted[i]],
        ["Selected in", cells.frequency[i]], ["Verdict", data.status[data.state[i]]], ["Redundant with", cells.with[i]],
      ];
      const title = document.createElement("strong"), list = document.createElement("dl");
      title.textContent = names[i];
      for (const [label, value] of lines) {
        if (!value || value === "–") continue;
        const dt = document.createElement("dt"), dd = document.createElement("dd");
        dt.textContent = label;
        dd.textContent = value;
        list.append(dt, dd);
      }
      details.replaceChildren(title, list);
      hide();
      details.hidden = false;
      row.setAttribute("aria-describedby", "details");
      const box = row.getBoundingClientRect(), page = root.getBoundingClientRect();
      const below = box.bottom + details.offsetHeight + 8 < innerHeight;
      const top = (below ? box.bottom + 4 : box.top - details.offsetHeight - 4) - page.top;
      const left = Math.min(box.left + box.width * 0.3, root.clientWidth - details.offsetWidth - 16) - page.left;
      details.style.top = `${Math.max(0, top)}px`;
      details.style.left = `${Math.max(16, left)}px`;
    };
    const focus = (row) => {
      if (!row) return;
      for (const other of body.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
      row.tabIndex = 0;
      row.focus();
    };
    const rowAt = (event) => event.target.closest("tr[data-i]");
    body.addEventListener("focusin", (event) => { if (rowAt(event)) tell(rowAt(event)); });
    body.addEventListener("focusout", hide);
    let at = "", over = null, timer = 0;
    body.addEventListener("mousemove", (event) => {
      /* Rows that move under a resting pointer are none of its business; one that passes by wants no details. */
      const now = `${event.screenX},${event.screenY}`, row = rowAt(event);
      if (at === now || row === over) return;
      at = now;
      over = row;
      clearTimeout(timer);
      timer = setTimeout(() => { if (row && row.isConnected) tell(row); }, 250);
    });
    /* When the pointer leaves, the row with the focus, if there is one, has its details back. */
    const leave = (event) => {
      const row = document.activeElement.closest("#ranking tbody tr");
      clearTimeout(timer);
      over = null;
      if (details.hidden || details.contains(event.relatedTarget)) return;
      if (row) tell(row);
      else hide();
    };
    body.addEventListener("mouseleave", leave);
    details.addEventListener("mouseleave", leave);
    body.addEventListener("click", (event) => {
      const row = rowAt(event);
      if (!row) return;
      focus(row);
      open(row);
    });
    /* The next row that is a column, and not what was opened below one. */
    const beside = (row, way) => {
      do row = row[way]; while (row && !row.dataset.i);
      return row;
    };
    body.addEventListener("keydown", (event) => {
      const row = rowAt(event);
      if (!row) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        open(row);
        return;
      }
      const last = body.lastElementChild;
      const to = {
        ArrowDown: beside(row, "nextElementSibling"), ArrowUp: beside(row, "previousElementSibling"),
        Home: body.firstElementChild, End: last.dataset.i ? last : beside(last, "previousElementSibling"),
      }[event.key];
      if (!to) return;
      event.preventDefault();
      focus(to);
    });
    addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });

    /* A click or Enter opens a row: why it has its verdict, and the target over its values. */
    const element = (name, text, attributes = {}) => {
      const drawing = ["svg", "rect", "line"].includes(name);
      const made = drawing ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      if (text !== null) made.textContent = text;
      return made;
    };
    const drawn = (shape) => {
      const { mode, overall } = data.legend;
      const svg = element("svg", null, { viewBox: "0 0 200 16", preserveAspectRatio: "none", "aria-hidden": "true" });
      const rect = (name, x, end) => element("rect", null, { class: name, x, y: 2, height: 12, width: Math.max(0, end - x) });
      const line = (name, x1, x2, y1 = 8, y2 = 8) => element("line", null, { class: name, x1, x2, y1, y2 });
      if (mode === "share") svg.append(rect("fill", 0, shape[0]));
      else if (mode === "mean") svg.append(line("spread", shape[1], shape[2]), line("dot", shape[0], shape[0]));
      else shape.forEach((end, k) => svg.append(rect(`c${k}`, k ? shape[k - 1] : 0, end)));
      if (overall !== null) svg.append(line("chance", overall, overall, 0, 16));
      return svg;
    };
    const picture = (rows) => {
      const table = element("table", null, { class: `picture ${data.legend.mode}` });
      table.append(element("caption", `${data.legend.head} over the values of the column`, { class: "hidden" }));
      const head = table.createTHead().insertRow();
      for (const text of ["values", "", data.legend.head, "rows"]) head.append(element("th", text, { scope: "col" }));
      head.children[1].append(element("span", "Drawing", { class: "hidden" }));
      const inside = table.createTBody();
      for (const [label, n, value, shape, aside] of rows) {
        const row = inside.insertRow(), name = element("th", null, { scope: "row" }), bar = element("td", null, { class: "bar" });
        const shown = element("td", null, { class: "value" });
        if (aside) row.className = "aside";
        name.append(element("bdi", label));
        shown.append(element("bdi", value));
        bar.append(drawn(shape));
        row.append(name, bar, shown, element("td", n, { class: "n" }));
      }
      return table;
    };
    const open = (row) => {
      const next = row.nextElementSibling;
      const was = next && !next.dataset.i;
      row.setAttribute("aria-expanded", String(!was));
      hide();
      if (was) {
        next.remove();
        return;
      }
      const i = Number(row.dataset.i), kept = data.pictures && data.pictures[i];
      const more = element("tr", null, { class: "opened" }), cell = element("td", null, { colspan: table.tHead.rows[0].cells.length });
      const weak = data.state[i] === "kept" && !data.relevant[i] && data.why.weak;
      cell.append(element("p", weak || data.why[data.state[i]]));
      const cells = data.cells, known = (text) => text && text !== "–";
      const numbers = [
        known(cells.score[i]) && `score ${cells.score[i]}${known(cells.interval[i]) ? ` (${cells.interval[i]})` : ""}`,
        known(cells.pvalue[i]) && `p ${cells.pvalue[i]}`, known(cells.adjusted[i]) && `adjusted p ${cells.adjusted[i]}`,
        known(cells.frequency[i]) && `passed in ${cells.frequency[i]} of the subsamples`,
      ].filter(Boolean).join(", ");
      if (numbers) cell.append(element("p", `${numbers[0].toUpperCase()}${numbers.slice(1)}.`, { class: "note" }));
      if (kept) cell.append(element("p", kept[1]), element("p", `${kept[0]}.`, { class: "note" }), picture(kept[2]));
      else cell.append(element("p", "There is no picture of this column: the page draws the kept columns and the best ones.", { class: "note" }));
      for (const k of data.remarks[i] || []) cell.append(element("p", data.remark_texts[k], { class: "note" }));
      more.append(cell);
      row.after(more);
    };
    for (const hint of document.querySelectorAll(".with-script")) hint.hidden = false;

    /* A size, chosen on the curve or with the slider, makes the list; the table marks what is in it. */
    const size = $("size"), curve = $("curve"), list = $("list");
    const make = (n) => {
      const chosen = data.order.slice(0, n);
      listed = new Set(chosen);
      for (const [i, row] of rows) row.classList.toggle("listed", listed.has(i));
      /* JSON's strings and whole numbers are Python's as well; marks that turn the writing round are spelt out. */
      const spelt = (mark) => "\\u" + mark.charCodeAt(0).toString(16).padStart(4, "0");
      const literal = (name) => JSON.stringify(name).replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, spelt);
      let lines = chosen.map((i) => `    ${literal(data.name[i])},\n`).join("");
      if (n > chosen.length) lines += `    # and ${n - chosen.length} more: see selection.json\n`;
      list.value = lines ? `features = [\n${lines}]\n` : "features = []\n";
      list.rows = Math.min(14, chosen.length + 3);
      $("copied").textContent = "";
    };
    const asKept = $("chosen") ? $("chosen").textContent : "";
    const choose = (at) => { /* before the first point of the curve stands what was kept, if that was not measured */
      make(at < 0 ? data.chosen : data.lengths[at]);
      const text = at < 0 ? "" : document.querySelectorAll(".size-text")[at].textContent;
      $("chosen").textContent = at < 0 ? asKept : `${data.size_texts[at]}: ${text}`;
      curve.querySelectorAll(".point").forEach((point, i) => point.classList.toggle("now", i === at));
      size.value = at;
      size.setAttribute("aria-valuetext", $("chosen").textContent);
    };
    if (curve) {
      size.addEventListener("input", () => choose(Number(size.value)));
      curve.addEventListener("click", (event) => {
        const hit = event.target.closest(".hit");
        if (hit) choose(Number(hit.dataset.i));
      });
      $("choose").hidden = false;
    }
    $("copy").addEventListener("click", async () => {
      const oldWay = () => { list.select(); return document.execCommand("copy"); };
      let done = false;
      if (self === top && navigator.clipboard) { /* a notebook's frame may not */
        done = await navigator.clipboard.writeText(list.value).then(() => true, oldWay);
      } else {
        done = oldWay();
      }
      if (!done) {
        $("copied").textContent = "Press Ctrl+C to copy.";
        return;
      }
      $("copied").textContent = "Copied.";
    });
    $("copy").hidden = $("tools").hidden = false;
    if (curve) choose(data.start);
    else make(data.chosen);
    show();
  }
})();
