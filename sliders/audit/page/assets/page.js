"use strict";
// The audit page: tables, the pane with a value's words. All text goes in as text nodes; nothing is parsed as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (selector, root = document) => root.querySelector(selector);
  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const words = (text) => make("bdi", {}, String(text));
  const pane = find("#evidence");
  const wide = window.matchMedia("(min-width: 1100px)");
  const YES_NO = { true: "yes", false: "no" };
  const MEANS = {
    stated: "the words print it", computed: "it follows from several words", judged: "a reader's judgement",
  };

  const shownValue = (value, column) => {
    if (value === undefined || value === null) return "";
    if (typeof value === "boolean") return YES_NO[value];
    if (typeof value === "number" && column && column.type === "number") return value.toLocaleString("en-US", { maximumFractionDigits: 10 });
    return String(value);
  };
  const isChanged = (value) => Boolean(value.changes);
  const isUnverified = (value) => (value.sources || []).some((source) => source.agrees && source.doubt);
  const readAs = (value) => ((value.sources || []).find((source) => source.agrees) || {}).how || "";
  const KINDS = {
    unverified: isUnverified, changed: isChanged, judged: (v) => readAs(v) === "judged",
    computed: (v) => readAs(v) === "computed", conflict: (v) => Boolean(v.conflict), empty: (v) => v.shown === undefined,
  };
  const marksOf = (value) => ["unverified", "judged", "computed", "changed", "conflict"].filter((kind) => KINDS[kind](value));
  const badge = (kind) => make("span", { className: `badge ${kind}` }, kind === "conflict" ? "open conflict" : kind);

  // tables

  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  const LONG = 160;

  function rowName(table, row) {
    const place = table.columns.findIndex((column, at) => column.type === "text" && row.values[at].shown);
    return place < 0 ? "" : String(row.values[place].shown);
  }

  function showValue(table, row, column, value, button) {
    const title = [column.name, rowName(table, row).slice(0, LONG)].filter(Boolean);
    show({ title, column, value, document: row.document, button });
  }

  function cell(table, row, column, value) {
    const full = shownValue(value.shown, column), text = full.length > LONG ? `${full.slice(0, LONG)}…` : full;
    const button = make("button", { type: "button", className: "cell" }, text ? words(text) : make("span", { className: "none" }, "empty"));
    for (const kind of marksOf(value)) {
      button.append(make("span", { className: `dot ${kind}`, title: kind }, make("span", { className: "hidden" }, `, ${kind}`)));
    }
    button.addEventListener("click", () => showValue(table, row, column, value, button));
    return button;
  }

  function rendered(table, column, place) {
    const numeric = ["integer", "number"].includes(column.type);
    return (row, type) => {
      const value = row.values[place];
      if (type === "display") return cell(table, row, column, value);
      if (type === "filter") return escaped(shownValue(value.shown, column));
      return numeric ? value.shown ?? -Infinity : String(value.shown ?? "").toLowerCase();
    };
  }

  function documentCell(row, type) {
    const known = data.documents[row.document];
    const name = known ? known.name : row.document;
    if (type !== "display") return escaped(name);
    if (!known) return words(name);
    const button = make("button", { type: "button", className: "open" }, words(name));
    if (row.of > 1) button.append(make("small", {}, ` +${row.of - 1}`));
    button.addEventListener("click", () => show({ title: [name], document: row.document, button }));
    return button;
  }

  function fill(card) {
    const table = data.tables[Number(card.dataset.table)];
    const tools = find(".tools", card);
    const choose = (name) => find(`[data-filter=${name}]`, card) || { value: "" };
    const columns = (table.columns || []).map((column, place) => ({
      data: null, render: rendered(table, column, place), type: ["integer", "number"].includes(column.type) ? "num" : "string",
      className: ["integer", "number"].includes(column.type) ? "number" : "",
    }));
    const rows = table.rows || [];
    if (!rows.some((row) => row.behind && row.behind.includes(Number(choose("behind").value)))) choose("behind").value = "";
    const grid = new DataTable(find("table.data", card), {
      data: rows, columns: [...columns, { data: null, render: documentCell, type: "string" }], order: [], autoWidth: false,
      pageLength: 25, lengthMenu: [10, 25, 100, { label: "all", value: -1 }],
      layout: tools ? { topStart: "search", topEnd: "info", bottomStart: "pageLength", bottomEnd: "paging" }
        : { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null },
      language: { search: "Search all columns", lengthMenu: "_MENU_ rows a page", info: "_START_ to _END_ of _TOTAL_ rows",
        infoEmpty: "no rows", infoFiltered: "(of _MAX_ on this page)", emptyTable: "no rows", zeroRecords: "no row fits the filters" },
    });
    const holder = find(".dt-layout-table", card);
    Object.assign(holder, { tabIndex: 0, role: "region", ariaLabel: `Rows of ${table.name}` });
    grid.search.fixed("chosen", (_, row) => {
      const behind = choose("behind").value, kind = choose("kind").value;
      const text = choose("contains").value.trim().toLowerCase(), place = Number(choose("column").value);
      return (behind === "" || (row.behind || []).includes(Number(behind))) && (!kind || row.values.some(KINDS[kind]))
        && (!text || shownValue(row.values[place].shown, table.columns[place]).toLowerCase().includes(text));
    });
    if (tools) tools.addEventListener("input", () => grid.draw());
    window.addEventListener("beforeprint", () => grid.page.len(-1).draw());
    window.addEventListener("afterprint", () => grid.page.len(25).draw());
    grid.draw();
  }

  // documents

  // Places count characters, JavaScript counts pairs of some of them: such texts are cut as lists of characters.
  function slicer(passage) {
    const characters = /[\ud800-\udfff]/.test(passage.text) ? Array.from(passage.text) : null;
    return (start, end) => {
      const low = start - passage.start, high = end - passage.start;
      return characters ? characters.slice(low, high).join("") : passage.text.slice(low, high);
    };
  }

  function marked(slice, start, end, places) {
    const cuts = [start, end, ...places.flatMap((p) => [p.start, p.end])].filter((at) => at >= start && at <= end);
    const points = [...new Set(cuts)].sort((a, b) => a - b);
    return points.slice(1).map((to, index) => {
      const from = points[index], inside = places.some((p) => p.start <= from && to <= p.end);
      return inside ? make("mark", {}, slice(from, to)) : document.createTextNode(slice(from, to));
    });
  }

  function gridOf(slice, block, places) {
    const fits = places.every((p) => p.end <= block.start || p.start >= block.end
      || block.rows.some((row) => row.some(([start, end]) => start <= p.start && p.end <= end)));
    if (!fits) return null;
    const body = make("tbody", {}, ...block.rows.map((row) => make("tr", {}, ...row.map(([start, end]) =>
      make("td", {}, ...marked(slice, start, end, places))))));
    const table = make("table", { className: "plain" });
    if (block.header) table.append(make("thead", {}, make("tr", {}, ...block.header.map((name) => make("th", { scope: "col" }, words(name))))));
    table.append(body);
    return make("div", { className: "scroll" }, table);
  }

  function blockOf(slice, block, places) {
    const grid = block.rows ? gridOf(slice, block, places) : null;
    const kind = block.kind === "heading" ? `heading level-${Math.min(block.level || 1, 4)}` : block.kind;
    return grid || make("p", { className: `block ${kind}` }, ...marked(slice, block.start, block.end, places));
  }

  function passageOf(known, passage, places) {
    const slice = slicer(passage), end = passage.start + [...passage.text].length, out = [];
    const blocks = passage.blocks || [{ kind: "paragraph", start: passage.start, end }];
    const pages = (known.pages || []).filter(([, start]) => start < end);
    let page = -1;
    for (const block of blocks) {
      const at = pages.findLastIndex(([, start]) => start <= block.start);
      if (at !== page && at >= 0) out.push(make("p", { className: "pagemark" }, `Page ${pages[at][0]}`));
      page = at;
      out.push(blockOf(slice, block, places));
    }
    if (passage.start > 0) out.unshift(make("p", { className: "gap" }, "…"));
    if (end < known.characters) out.push(make("p", { className: "gap" }, "…"));
    return out;
  }

  function read(identifier, places) {
    const reader = find("#reader"), known = data.documents[identifier];
    reader.replaceChildren();
    if (!known) return;
    const mine = places.filter((place) => place.document === identifier);
    reader.ariaLabel = `Document ${known.name}`;
    reader.append(make("p", { className: "name" }, words(known.name), mine.length && mine[0].page ? `, page ${mine[0].page}` : "",
      known.superseded ? " (an earlier version)" : ""));
    for (const passage of known.passages || []) reader.append(...passageOf(known, passage, mine));
    const first = find("mark", reader);
    if (first) first.scrollIntoView({ block: "center", inline: "nearest" });
    else reader.scrollTop = 0;
  }

  // the pane

  function line(name, ...content) {
    return content.some((part) => part) ? [make("dt", {}, name), make("dd", {}, ...content.map((part) => part.nodeType ? part : words(part)))] : [];
  }

  function told(source, column) {
    return make("dl", {},
      ...line("Read as", `${source.how}: ${MEANS[source.how]}`),
      ...line("Printed", source.printed && make("q", {}, words(source.printed))),
      ...line("Found", source.found && source.found !== "none" ? source.found : ""),
      ...line("Value", source.agrees ? "" : `${shownValue(source.value, column)} (the table shows another)`),
      ...line("Reason", source.reason), ...line("Odds", source.odds), ...line("Unverified", source.doubt), ...line("Model", source.model));
  }

  function changeOf(change, column) {
    const by = change.by ? `${change.by} decided` : change.kind;
    return make("li", {}, make("del", {}, words((change.before || []).map((value) => shownValue(value, column)).join(", ") || "nothing")), " → ",
      make("ins", {}, words(shownValue(change.after, column))), ` (${by})`,
      ...(change.reason ? [": ", words(change.reason)] : []));
  }

  let current = null;
  function choose(value, column, index) {
    const sources = value.sources || [], source = sources[index];
    find("#told").replaceChildren(told(source, column));
    document.querySelectorAll("#story .source").forEach((button, at) => { button.ariaPressed = String(at === index); });
    read(source.document, source.places || []);
  }

  function story(target) {
    const { value, column } = target, out = [];
    out.push(make("p", { className: "shown" }, value.shown === undefined ? make("span", { className: "none" }, "empty") : words(shownValue(value.shown, column)),
      ...(column && column.unit && value.shown !== undefined ? [" ", make("small", {}, words(column.unit))] : [])));
    out.push(make("p", { className: "badges" }, ...(readAs(value) ? [badge(readAs(value))] : []),
      ...marksOf(value).filter((kind) => kind !== readAs(value)).map(badge)));
    if (value.empty) out.push(make("p", { className: "why" }, "No value: ", words(value.empty)));
    if (value.conflict) out.push(make("p", { className: "why" }, "Open conflict: ", words(value.conflict)));
    if (value.name) out.push(make("p", { className: "why" }, "One name with other forms: ", words(value.name), " (", words(value.named), ")"));
    if (value.changes) out.push(make("ul", { className: "changes", ariaLabel: "Changes" }, ...value.changes.map((change) => changeOf(change, column))));
    const sources = value.sources || [];
    if (sources.length > 1) {
      out.push(make("div", { className: "sources", role: "group", ariaLabel: "Readings" }, ...sources.map((source, index) => {
        const name = (data.documents[source.document] || {}).name || "";
        const button = make("button", { type: "button", className: "source" }, words(name),
          source.agrees ? "" : make("span", { className: "badge conflict" }, "says ", words(shownValue(source.value, column))));
        button.addEventListener("click", () => choose(value, column, index));
        return button;
      })));
    }
    out.push(make("div", { id: "told" }));
    return out;
  }

  function show(target) {
    document.querySelectorAll(".chosen").forEach((node) => node.classList.remove("chosen"));
    current = target;
    if (target.button) target.button.classList.add("chosen");
    const title = find("#evidence-title");
    title.replaceChildren(words(target.title[0]), ...target.title.slice(1).flatMap((part) => [" · ", words(part)]));
    find("#story").replaceChildren(...(target.value ? story(target) : []));
    if (!pane.open) {
      if (wide.matches) pane.show(); else pane.showModal();
      document.body.classList.add("looking");
    }
    if (target.value && target.value.sources) choose(target.value, target.column, 0);
    else read(target.document, []);
    for (const id of ["#previous", "#next"]) find(id).hidden = !(target.button && target.button.matches(".cell"));
    title.focus({ preventScroll: true });
    if (target.button) target.button.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function step(by) {
    const cells = [...document.querySelectorAll("button.cell")], at = cells.indexOf(current && current.button);
    if (at >= 0 && cells[at + by]) {
      cells[at + by].scrollIntoView({ block: "nearest", inline: "nearest" });
      cells[at + by].click();
    }
  }

  pane.addEventListener("close", () => {
    document.body.classList.remove("looking");
    if (current && current.button) {
      current.button.classList.remove("chosen");
      current.button.focus();
    }
    current = null;
  });
  pane.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") { event.preventDefault(); pane.close(); }
    if (event.key === "n") step(1);
    if (event.key === "p") step(-1);
  });
  find("#close").addEventListener("click", () => pane.close());
  find("#next").addEventListener("click", () => step(1));
  find("#previous").addEventListener("click", () => step(-1));
  wide.addEventListener("change", () => { if (pane.open) pane.close(); });

  document.querySelectorAll("button.cite").forEach((button) => button.addEventListener("click", () => {
    const cited = data.citations[Number(button.dataset.answer)][Number(button.dataset.citation)];
    show({ title: [cited.column || "Citation"], value: cited.value, button });
  }));
  document.querySelectorAll("button.open[data-at]").forEach((button) => button.addEventListener("click", () => {
    const [at, line, place] = button.dataset.at.split(",").map(Number), table = data.tables[at], row = table.rows[line];
    showValue(table, row, table.columns[place], row.values[place], button);
  }));
  document.querySelectorAll("button.open[data-document]").forEach((button) => button.addEventListener("click", () =>
    show({ title: [data.documents[button.dataset.document].name], document: button.dataset.document, button })));
  document.querySelectorAll(".card.data").forEach(fill);

  // the page of one row opens at the column that its address names
  const asked = new URLSearchParams(location.search).get("column");
  const place = asked && data.tables.length === 1 ? data.tables[0].columns.findIndex((column) => column.name === asked) : -1;
  if (place >= 0) document.querySelectorAll("button.cell")[place].click();

  // dark or light: as the system says, until somebody chooses

  const theme = find("#theme"), prefers = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.style.colorScheme || (prefers.matches ? "dark" : "light")) === "dark";
  const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { document.documentElement.style.colorScheme = isDark() ? "light" : "dark"; name(); });
  prefers.addEventListener("change", name);
  name();
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((node) => { node.open = true; }));
})();
