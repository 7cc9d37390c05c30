// Made by scripts/embed from Sources/NewsConsole/Assets; do not edit.
// swift-format-ignore-file

/// The names and texts of all files in Assets, sorted by name.
let embeddedAssets: [(name: String, text: String)] = [
  ("console.css", #"""
:root {
  color-scheme: light dark;
  --paper: #fffdfa;
  --panel: #f4f1eb;
  --ink: #17191e;
  --soft: #575c66;
  --line: #dcd7cd;
  --control: #7d7a73;
  --accent: #a3122a;
  --on-accent: #fff;
  --link: #0a4d8c;
  --good: #14613a;
  --good-panel: #e3f2e8;
  --bad: #a3122a;
  --bad-panel: #fbe6e8;
  --removed: #fbd9dc;
  --added: #d3efdc;
  --marked: #fdebb0;
  --sans: system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
  --mono: ui-monospace, "Liberation Mono", Menlo, Consolas, monospace;
}

@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161a;
    --panel: #1d2026;
    --ink: #ece9e3;
    --soft: #abb0b9;
    --line: #363a43;
    --control: #8b909b;
    --accent: #ff8f93;
    --on-accent: #14161a;
    --link: #93c8ff;
    --good: #86d9a5;
    --good-panel: #16291e;
    --bad: #ff9ea2;
    --bad-panel: #331b1e;
    --removed: #57262b;
    --added: #1d4a2f;
    --marked: #574818;
  }
}

*, ::before, ::after { box-sizing: border-box; }
[hidden] { display: none !important; }

html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }

body {
  display: flex;
  flex-direction: column;
  min-height: 100vh;
  margin: 0;
  background: var(--paper);
  color: var(--ink);
  font: 1rem/1.5 var(--sans);
  overflow-wrap: anywhere;
}

.wrap { width: 100%; max-width: 78rem; margin-inline: auto; padding-inline: 1rem; }
.narrow { max-width: 34rem; padding-block-end: 2rem; }
.narrow:has(+ .narrow) { padding-block-end: 0; }
.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  margin: -1px;
  padding: 0;
  border: 0;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}

h1, h2, h3 { margin: 0; line-height: 1.2; text-wrap: balance; }
h1 { font-size: clamp(1.4rem, 1.2rem + 1vw, 1.9rem); letter-spacing: -.015em; }
main > h1 { margin-bottom: .75rem; }
h2 { font-size: 1.0625rem; }
h3 { font-size: .9375rem; }
p { margin: 0; }
ul, ol { list-style: none; margin: 0; padding: 0; }
img { display: block; max-width: 100%; height: auto; color: var(--soft); font-size: .75rem; background: var(--panel); }
a { color: var(--link); text-underline-offset: .16em; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
main { flex: 1; padding-block: 1.25rem 3rem; }

.skip {
  position: absolute;
  inset-inline-start: 1rem;
  top: -6rem;
  z-index: 3;
  padding: .6rem 1rem;
  background: var(--ink);
  color: var(--paper);
}
.skip:focus { top: .5rem; }

/* The head and the foot of pages */
.top { border-bottom: 1px solid var(--line); background: var(--panel); }
.top .wrap { display: flex; align-items: center; gap: 1rem; padding-block: .5rem; }
.brand, .top li, .account { white-space: nowrap; }
.brand { flex: 0 1 auto; min-width: 3.5rem; font-weight: 700; overflow: hidden; text-overflow: ellipsis; }
.brand a { color: inherit; text-decoration: none; }
.open-menu { flex: none; padding-inline: .6rem; white-space: nowrap; }
.menu {
  position: absolute;
  inset: 3.5rem 0 auto;
  width: auto;
  margin: 0;
  padding: .5rem 1rem;
  background: var(--panel);
  color: inherit;
  border: 1px solid var(--line);
  border-inline: 0;
}
.top li a { display: block; padding: .35rem 0; color: inherit; text-decoration: none; border-bottom: 3px solid transparent; }
.top li a:hover { border-color: var(--line); }
.top li a[aria-current] { border-color: var(--accent); font-weight: 600; }
.account { display: flex; align-items: center; gap: .75rem; margin-inline-start: auto; }
.account .key { color: var(--soft); font-size: .875rem; }
.foot { border-top: 1px solid var(--line); color: var(--soft); font-size: .8125rem; }
.foot .wrap { padding-block: 1rem; }

/* Controls */
label, legend { font-weight: 600; font-size: .9375rem; }
input, textarea, select, button { font: inherit; color: inherit; }
input:not([type=checkbox], [type=file]), textarea, select {
  width: 100%;
  min-height: 2.5rem;
  padding: .45rem .6rem;
  background: var(--paper);
  border: 1px solid var(--control);
  border-radius: 4px;
}
textarea { resize: vertical; line-height: 1.5; }
.tall { min-height: 20rem; }
.source { font: .875rem/1.5 var(--mono); }
input[type=file] { max-width: 100%; padding-block: .5rem; }
::file-selector-button {
  min-height: 2.25rem;
  padding: .3rem .8rem;
  margin-inline-end: .6rem;
  background: var(--paper);
  color: var(--ink);
  border: 1px solid var(--control);
  border-radius: 4px;
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
input[type=checkbox] { width: 1.15rem; height: 1.15rem; margin: 0; accent-color: var(--accent); flex: none; }
[aria-invalid=true] { border-color: var(--bad) !important; border-width: 2px !important; }
button, .button {
  display: inline-flex;
  align-items: center;
  justify-content: center;
  min-height: 2.5rem;
  padding: .45rem .95rem;
  background: var(--paper);
  color: var(--ink);
  border: 1px solid var(--control);
  border-radius: 4px;
  font-weight: 600;
  line-height: 1.4;
  text-decoration: none;
  cursor: pointer;
}
button:hover, .button:hover { border-color: var(--ink); }
.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.danger { background: var(--paper); border-color: var(--bad); color: var(--bad); }
.quiet { background: transparent; font-weight: 400; }
fieldset { min-width: 0; margin: 0; padding: 0; border: 0; }
legend { padding: 0; }
fieldset:disabled { opacity: 1; }
fieldset:disabled input, fieldset:disabled textarea, fieldset:disabled select { background: var(--panel); color: var(--ink); opacity: 1; }
.stack { display: grid; gap: 1rem; margin-block: 1.25rem; }
.field { display: grid; grid-template-columns: minmax(0, 1fr); gap: .3rem; align-content: start; }
.check { display: flex; align-items: center; gap: .55rem; min-height: 2rem; }
.check label { font-weight: 400; }
.hint { color: var(--soft); font-size: .8125rem; }
.error, .errors { color: var(--bad); font-size: .875rem; font-weight: 600; }
.errors { margin-block: .75rem; }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem; }
.status { color: var(--soft); font-size: .875rem; }
.note { margin-bottom: 1rem; padding: .7rem 1rem; background: var(--panel); border-inline-start: 4px solid var(--control); border-radius: 3px; }
.good { background: var(--good-panel); border-color: var(--good); }
.bad { background: var(--bad-panel); border-color: var(--bad); }
.note ul { margin-top: .4rem; padding-inline-start: 1.2rem; list-style: disc; }

/* Lists */
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem; margin-bottom: 1rem; }
.tabs { margin-block: .75rem; border-bottom: 1px solid var(--line); }
.tabs ul { display: flex; flex-wrap: wrap; gap: 0 1.1rem; }
.tabs a { display: block; padding: .5rem 0; color: inherit; text-decoration: none; border-bottom: 3px solid transparent; }
.tabs a:hover { border-color: var(--line); }
.tabs a[aria-current] { border-color: var(--accent); font-weight: 600; }
.count { color: var(--soft); font-size: .8125rem; font-weight: 400; }
.filter { display: flex; flex-wrap: wrap; align-items: end; gap: .75rem; margin-block: 1rem; }
.filter .field { flex: 1 1 8rem; }
.filter .field:has([type=date]) { flex-basis: 9.25rem; }
.filter .grow { flex: 3 1 9rem; }
.empty { padding-block: 2.5rem; color: var(--soft); text-align: center; }
.rows > li { padding-block: .8rem; border-bottom: 1px solid var(--line); }
.rows .title { font-weight: 600; font-size: 1.0625rem; }
.rows .title a { color: inherit; text-decoration-color: var(--line); }
.rows .title a:hover { text-decoration-color: currentColor; }
.session { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .75rem; }
.facts { display: flex; flex-wrap: wrap; align-items: baseline; gap: .15rem .9rem; margin-top: .2rem; color: var(--soft); font-size: .875rem; }
.state { padding-inline: .45rem; border: 1px solid var(--control); border-radius: 3px; color: var(--ink); font-size: .8125rem; }
.published { border-color: var(--good); color: var(--good); }
.review, .scheduled { border-color: var(--link); color: var(--link); }
.retracted, .expired { border-color: var(--bad); color: var(--bad); }
.valid, .working { border-color: var(--good); color: var(--good); }
.failing, .revoked { border-color: var(--bad); color: var(--bad); }
.breaking { padding-inline: .45rem; border-radius: 3px; background: var(--accent); color: var(--on-accent); font-size: .8125rem; }
.pager { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
.pager [rel=next] { margin-inline-start: auto; }

/* The editor */
.columns { display: grid; gap: 1.5rem; }
.main, .side { display: grid; gap: 1.1rem; align-content: start; min-width: 0; }
.choices { display: grid; max-height: 18rem; overflow-y: auto; margin: 0 -.25rem -.25rem; padding: .25rem; }
.buttons {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: .6rem;
  margin-top: 1.5rem;
  padding-block: .75rem;
  background: var(--paper);
  border-top: 1px solid var(--line);
}
.ends { display: flex; gap: 1rem; margin-inline-start: auto; }
.attachments { display: grid; gap: .9rem; }
.attachment { display: grid; gap: .75rem; padding: .75rem; background: var(--panel); border-radius: 4px; }
/* Not above the border, but within the panel. */
.attachment legend { float: inline-start; }
.attachment .details { display: grid; gap: .6rem; min-width: 0; }
.attachment img { max-height: 9rem; width: auto; }
.drop { padding: .9rem; border: 2px dashed var(--line); border-radius: 4px; }
.drop .actions { margin-top: .75rem; }
.drop.over { border-color: var(--link); background: var(--panel); }
details summary { padding-block: .4rem; font-weight: 600; cursor: pointer; }

/* Files */
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: 1rem; }
.grid .picture { display: grid; place-items: center; aspect-ratio: 3 / 2; overflow: hidden; background: var(--panel); border-radius: 4px; }
.grid .picture img { width: 100%; height: 100%; object-fit: cover; }
.grid .kind { padding: .5rem; font-size: .8125rem; }
.grid .uses { display: grid; gap: .15rem; margin-top: .2rem; color: var(--soft); font-size: .875rem; }
.grid .name { margin-top: .35rem; font-size: .9375rem; font-weight: 600; }
.small { grid-template-columns: repeat(auto-fill, minmax(7.5rem, 1fr)); margin-block: .6rem; }
.small label { display: grid; gap: .25rem; font-size: .8125rem; font-weight: 400; }
.small img { aspect-ratio: 3 / 2; width: 100%; object-fit: cover; border-radius: 3px; }

/* Comparisons */
.compared { margin-block: 1rem; }
.versions { display: grid; gap: .75rem; margin-top: .4rem; }
.version { padding: .75rem; background: var(--panel); border-radius: 4px; min-width: 0; }
.compared .text { white-space: pre-wrap; font-size: .9375rem; }
del { background: var(--removed); text-decoration-thickness: 1px; }
ins { background: var(--added); text-decoration: none; font-weight: 600; }
mark { background: var(--marked); color: inherit; font-weight: 600; }
.skipped { color: var(--soft); font-style: italic; }
.history > li { padding-block: 1rem; border-bottom: 1px solid var(--line); }
.history form { margin-top: .75rem; }
.version h3 { margin-bottom: .25rem; }

/* Topics, subscriptions and keys */
.slug, .address { font: .875rem/1.5 var(--mono); }
.failure { margin-top: .2rem; color: var(--bad); font-size: .875rem; }
.pair { display: grid; gap: .6rem; }
.preview { margin-block: 1rem; padding: 1rem; background: var(--panel); border-radius: 4px; }
.preview > .title { font-weight: 600; }
.excerpt { font-size: .9375rem; }
.facts + .actions, .failure + .actions { margin-top: .75rem; }
.secret { margin-block: 1rem; padding: .75rem; background: var(--panel); border: 2px solid var(--good); border-radius: 4px; user-select: all; }
.secret + button { margin-bottom: 1rem; }

/* The live page */
.panel { margin-top: 1.5rem; padding-top: 1.1rem; border-top: 1px solid var(--line); }
.panel h2, .panel h3 { margin-bottom: .6rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .9rem; margin: 0 0 1rem; }
.figures div { padding: .65rem .8rem; background: var(--panel); border-radius: 4px; min-width: 0; }
.figures dt, .figures span { color: var(--soft); font-size: .8125rem; }
.figures dd { margin: 0; }
.figures span { display: block; margin-top: .1rem; line-height: 1.35; }
.figures strong { display: block; font-size: 1.375rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.charts { display: grid; gap: 1.25rem; }
.chart { margin: 0; min-width: 0; }
.chart figcaption { display: flex; flex-wrap: wrap; gap: .1rem .9rem; font-size: .9375rem; font-weight: 600; }
.chart figcaption span { font-weight: 400; color: var(--soft); }
.chart figcaption span::before { content: ""; display: inline-block; width: 1.4rem; margin-inline-end: .35rem; vertical-align: .25em; border-top: 3px solid var(--link); }
.chart .key-second::before { border-top: 3px dashed var(--good); }
.chart .key-part::before { border-top: 9px solid var(--good); }
.chart .key-whole::before { border-top: 9px solid var(--link); }
.axis { display: flex; justify-content: space-between; color: var(--soft); font-size: .75rem; }
.plot { display: block; width: 100%; height: 8.5rem; background: var(--panel); border-radius: 4px; }
.plot path { fill: none; vector-effect: non-scaling-stroke; }
.plot .scale { stroke: var(--line); stroke-width: 1; }
.plot .line { stroke: var(--link); stroke-width: 2.5; stroke-linejoin: round; }
.plot .line.second { stroke: var(--good); stroke-dasharray: 6 4; }
.plot .area { fill: var(--link); opacity: .15; }
.plot .bar { fill: var(--link); }
.plot .bar.part { fill: var(--good); }
table { width: 100%; margin-block: .5rem; border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { padding-block: .3rem; color: var(--soft); text-align: start; }
th, td { padding: .3rem .5rem .3rem 0; border-bottom: 1px solid var(--line); text-align: start; font-weight: 400; }
thead th { color: var(--soft); }

/* The first steps */
.steps { display: grid; gap: 1.25rem; margin-top: 1.5rem; counter-reset: step; }
.steps > li { display: grid; gap: .6rem; padding: 1rem; background: var(--panel); border-radius: 4px; counter-increment: step; justify-items: start; }
.steps + .actions { margin-top: 1.25rem; }
.steps h2::before { content: counter(step) ". "; }
.command { margin: 0; max-width: 100%; padding: .55rem .75rem; background: var(--paper); border: 1px solid var(--line); border-radius: 4px; font: .875rem/1.5 var(--mono); white-space: pre-wrap; }
.command code { font: inherit; color: inherit; user-select: all; }

/* Errors */
.code { color: var(--accent); font-weight: 700; }
.narrow h1 { margin-bottom: .75rem; }
.narrow > p + p:not(.facts), .narrow > ul + p, .narrow > blockquote + p { margin-top: 1rem; }
blockquote { margin: 1rem 0; padding-inline-start: 1rem; border-inline-start: 3px solid var(--accent); }
.subject { font-weight: 600; }

/* The parts of the console beside each other from a width of 896 pixels on */
@media (min-width: 56rem) {
  .top .wrap { column-gap: clamp(.75rem, 2vw, 1.5rem); }
  .top ul { column-gap: clamp(.5rem, 1.4vw, 1rem); }
  .open-menu { display: none; }
  .menu { display: block; position: static; padding: 0; border: 0; overflow: visible; }
  .menu ul { display: flex; }
}

@media (max-width: 72rem) {
  .account { position: relative; }
  /* Only for screen readers: there is no room in German. */
  .account .key { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .account .quiet { padding-inline: .6rem; }
}

@media (min-width: 56rem) and (max-width: 72rem) {
  .top { font-size: .875rem; }
}

@media (min-width: 40rem) {
  .pair { grid-template-columns: 8rem minmax(0, 1fr); }
  .pair legend { grid-column: 1 / -1; }
  .versions { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .attachment:has(img) { grid-template-columns: 9rem minmax(0, 1fr); }
  .attachment legend { grid-column: 1 / -1; }
}

/* On a small screen, the bar would cover the form. The padding keeps controls with the focus above the bar. */
@media (min-width: 40rem) and (min-height: 32rem) {
  html:has(.buttons) { scroll-padding-bottom: 7rem; }
  .buttons { position: sticky; bottom: 0; z-index: 2; }
}

@media (min-width: 60rem) {
  .charts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .wrap { padding-inline: 1.75rem; }
  .columns { grid-template-columns: minmax(0, 1fr) 19rem; gap: 2.5rem; }
}

@media (prefers-reduced-motion: no-preference) {
  button, .button, .top a, .tabs a { transition: border-color .15s, background-color .15s; }
}

"""#
  ),
  ("console.js", #"""
"use strict";
// The console works without this script. It adds comfort: the code of a link, times in the browser's zone, a warning before
// unsaved text is lost, drafts that are saved while they are typed, uploads by drag and drop, and two keys.

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

/** Moves the code of a sign-in link from the address into the form. The address must not keep it. */
function readLink() {
  const form = document.getElementById("link");
  const code = location.hash.slice(1);
  if (!form || !code) return;
  history.replaceState(null, "", location.pathname);
  document.getElementById("code").value = code;
  document.getElementById("code-field").hidden = true;
  form.querySelector("button").focus();
}

/** Shows a time of the form in the browser's zone. The field with the name stays in UTC. */
function localise(field, label) {
  const local = field.cloneNode();
  const hint = document.getElementById(field.id + "-hint");
  local.removeAttribute("name");
  field.removeAttribute("id");
  field.hidden = true;
  const pad = (number, digits = 2) => String(number).padStart(digits, "0");
  const shown = (date) =>
    `${pad(date.getFullYear(), 4)}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}` +
    `T${pad(date.getHours())}:${pad(date.getMinutes())}`;
  const show = () => {
    const date = new Date(field.value + "Z");
    local.value = isNaN(date) ? "" : shown(date);
  };
  local.addEventListener("input", () => {
    const date = new Date(local.value);
    field.value = isNaN(date) ? "" : date.toISOString().slice(0, 16);
  });
  show();
  field.after(local);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (hint && zone) hint.textContent = fill(label, { zone });
}

function startTimes() {
  for (const form of document.querySelectorAll("form[data-zone]")) {
    for (const field of form.querySelectorAll('input[type="datetime-local"]')) localise(field, form.dataset.zone);
  }
}

/** Sends a form once when its button is clicked twice. The server makes sure that a repeat has no effect. */
function startForms() {
  const interval = 1500;
  const sent = new WeakMap();
  document.addEventListener("submit", (event) => {
    const last = sent.get(event.target);
    // A preview opens another tab.
    if (event.target.method !== "post" || event.defaultPrevented || event.submitter?.formTarget === "_blank") return;
    if (last !== undefined && event.timeStamp - last < interval) event.preventDefault();
    else sent.set(event.target, event.timeStamp);
  });
}

/** Sends a form with its files and reports the progress. The result is the page of the answer. */
function send(form, data, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", form.getAttribute("action"));
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(Math.floor((event.loaded * 100) / event.total));
    });
    request.addEventListener("load", () => {
      resolve({ page: parse(request.responseText), url: request.responseURL, ok: request.status < 300 });
    });
    request.addEventListener("error", () => reject(new Error("network")));
    request.send(data);
  });
}

const parse = (text) => new DOMParser().parseFromString(text, "text/html");

const isFiles = (event) => event.dataTransfer?.types.includes("Files");

/** Ignores files that are dropped beside the areas of a page: the browser would open them in its place. */
function startDrops() {
  if (!document.querySelector(".drop")) return;
  for (const type of ["dragover", "drop"]) {
    document.addEventListener(type, (event) => {
      if (!isFiles(event) || event.defaultPrevented) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    });
  }
}

/** Returns the reasons why a form was not accepted; empty if the page has none. */
function reasons(page) {
  const lines = [...page.querySelectorAll("#problem li")].map((line) => line.textContent);
  return lines.join(" ") || (page.querySelector(".bad, h1")?.textContent ?? "");
}

/** Lets files be dropped on an area. */
function acceptDrops(area, onFiles) {
  area.addEventListener("dragover", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    area.classList.add("over");
  });
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    area.classList.remove("over");
    onFiles(event.dataTransfer.files);
  });
}

function startUploads() {
  const form = document.getElementById("upload");
  if (!(form instanceof HTMLFormElement)) return;
  const status = form.querySelector("[data-status]");
  document.getElementById("upload-hint").textContent += ` ${form.dataset.drop}`;
  const upload = async () => {
    try {
      const answer = await send(form, new FormData(form), (percent) => {
        status.textContent = fill(form.dataset.progress, { percent });
      });
      if (answer.ok) {
        location.assign(answer.url);
      } else if (answer.page.querySelector(".good")) {
        // The list has the files that were accepted.
        document.getElementById("content").replaceWith(document.adoptNode(answer.page.getElementById("content")));
        startUploads();
        showProblem();
      } else {
        status.textContent = reasons(answer.page);
      }
    } catch {
      status.textContent = form.dataset.failed;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    upload();
  });
  // The form keeps the files until the server has them.
  acceptDrops(form, (files) => {
    form.elements.upload.files = files;
    upload();
  });
}

function startEditor() {
  const form = document.getElementById("editor");
  if (!form) return;
  const status = form.querySelector("[data-status]");
  const { saving, saved, changed, progress, failed } = form.dataset;
  let isChanged = form.dataset.unsaved === "true";
  let isLeaving = false;
  let timer = 0;
  let attempts = 0;
  let pending = false;
  let waiting = null;
  // What is sent again once the connection or the server is back.
  let retry = null;

  /** Sends the form. A result without a page means that nothing is known: offline, or a server that cannot save. */
  const post = async (data) => {
    pending = true;
    status.textContent = saving;
    let result = { failure: "offline" };
    try {
      const response = await fetch(form.getAttribute("action"), { method: "POST", body: data });
      const isAway = response.status >= 500 || response.status === 429;
      result = isAway ? { failure: "server" } : { response, page: parse(await response.text()) };
    } catch {
      // Without a network, the text stays in the form.
    }
    pending = false;
    return result;
  };
  const tryAgain = () => {
    clearTimeout(timer);
    const send = retry;
    retry = null;
    send?.();
  };
  const failedTo = (send, failure) => {
    isChanged = true;
    status.textContent = form.dataset[failure];
    retry = send;
    clearTimeout(timer);
    timer = setTimeout(tryAgain, Math.min(60000, 2500 * 2 ** attempts++));
  };
  window.addEventListener("online", tryAgain);

  const autosaves = form.dataset.autosave === "true";
  const autosave = async () => {
    if (pending || isLeaving || !isChanged) return;
    isChanged = false;
    const data = new FormData(form);
    data.delete("upload");
    data.delete("choose");
    data.set("action", "save");
    const { response, page, failure } = await post(data);
    const revision = page?.querySelector('#editor input[name="revision"]')?.value;
    if (failure) {
      failedTo(autosave, failure);
    } else if (response.ok && revision) {
      attempts = 0;
      form.querySelector('input[name="revision"]').value = revision;
      const time = new Date().toLocaleTimeString(document.documentElement.lang, { timeStyle: "short" });
      status.textContent = isChanged ? changed : fill(saved, { time });
      if (isChanged) later();
    } else {
      isChanged = true;
      status.textContent =
        response.status === 412 ? form.dataset.conflict : fill(form.dataset.refused, { reasons: reasons(page) });
    }
    const submit = waiting;
    waiting = null;
    submit?.();
  };
  const later = () => {
    // A button that was pressed is sent again, with what was typed since.
    if (retry && retry !== autosave) return;
    retry = null;
    clearTimeout(timer);
    timer = setTimeout(autosave, 2500);
  };

  /** Sends the form for a button. The editor stays open while nothing can be saved, and the form is sent again then. */
  const submit = async (button) => {
    const { response, failure } = await post(new FormData(form, button));
    if (failure) {
      failedTo(() => submit(button), failure);
      return;
    }
    isLeaving = true;
    if (response.ok && response.redirected) location.assign(response.url);
    else form.requestSubmit(button ?? undefined);
  };

  form.addEventListener("input", (event) => {
    if (event.target.name === "upload" || event.target.name === "choose") return;
    isChanged = true;
    status.textContent = changed;
    if (autosaves) later();
  });
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    // A preview opens another tab, and this one keeps its text. A form that was refused is sent again for its page.
    if (button?.formTarget === "_blank" || isLeaving) return;
    retry = null;
    clearTimeout(timer);
    // The page with the files that were added replaces this one.
    const isNative = button?.value === "attach";
    isLeaving = isNative && !pending;
    if (isLeaving) return;
    event.preventDefault();
    // The form sends the revision that the draft gets meanwhile.
    if (pending) waiting = () => (isNative ? form.requestSubmit(button) : submit(button));
    else submit(button);
  });
  window.addEventListener("beforeunload", (event) => {
    if ((isChanged || pending) && !isLeaving) event.preventDefault();
  });
  window.addEventListener("pageshow", () => {
    isLeaving = false;
  });

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      event.preventDefault();
      const button = form.querySelector('.buttons button[value="save"]');
      if (button) form.requestSubmit(button);
    }
  });

  const area = form.querySelector(".drop");
  if (area) acceptDrops(area, async (files) => {
    const data = new FormData(form);
    data.delete("upload");
    data.set("action", "attach");
    for (const file of files) data.append("upload", file);
    try {
      const answer = await send(form, data, (percent) => {
        status.textContent = fill(progress, { percent });
      });
      const list = answer.page.getElementById("attachments");
      if (!list) {
        status.textContent = reasons(answer.page) || failed;
        return;
      }
      document.getElementById("attachments").replaceWith(document.adoptNode(list));
      for (const box of form.querySelectorAll('input[name="choose"]')) box.checked = false;
      isChanged = true;
      status.textContent = answer.page.querySelector("#problem") ? reasons(answer.page) : changed;
      if (autosaves) later();
    } catch {
      // The button that attaches chosen files sends them again.
      form.elements.upload.files = files;
      status.textContent = failed;
    }
  });
}

function startKeys() {
  const search = document.getElementById("search");
  if (!search) return;
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
}

/** Replaces the live page's main part with each event, while the page is visible and not paused. */
function startLive() {
  const part = document.getElementById("live");
  if (!part) return;
  const status = document.querySelector("[data-status]");
  const pause = document.getElementById("live-pause");
  let source = null;
  let timer = 0;
  let isPaused = false;

  const show = (html) => {
    // What the reader has opened and focused stays so.
    const open = [...part.querySelectorAll("details[open]")].map((details) => details.id);
    const inPart = part.contains(document.activeElement) ? document.activeElement : null;
    const focused = inPart?.getAttribute("href") ?? inPart?.parentElement.id;
    part.innerHTML = html;
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (!inPart || !focused) return;
    const again = inPart.tagName === "SUMMARY" ? `#${CSS.escape(focused)} > summary` : `a[href="${CSS.escape(focused)}"]`;
    part.querySelector(again)?.focus({ preventScroll: true });
  };
  const stop = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const start = () => {
    stop();
    if (isPaused || document.hidden) return;
    source = new EventSource(part.dataset.events);
    source.addEventListener("message", (event) => {
      if (status.textContent) status.textContent = "";
      // A selection would be lost.
      if (getSelection().isCollapsed) show(event.data);
    });
    source.addEventListener("end", () => {
      isPaused = true;
      stop();
      pause.hidden = true;
      status.textContent = part.dataset.ended;
    });
    source.addEventListener("error", () => {
      status.textContent = part.dataset.waiting;
      // After an error page, the browser does not try again by itself.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(start, 15000);
    });
  };
  pause.hidden = false;
  document.getElementById("live-reload").hidden = true;
  pause.addEventListener("click", () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? pause.dataset.resume : pause.dataset.pause;
    start();
  });
  document.addEventListener("visibilitychange", start);
  start();
}

/** Adds a button to each command and secret that copies it. */
function startCopying() {
  if (!navigator.clipboard) return;
  for (const command of document.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = command.dataset.copy;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = command.dataset.copied;
    });
    command.after(button);
  }
}

/** Moves the focus to the reason why a form was not accepted, which links to the fields. */
function showProblem() {
  document.getElementById("problem")?.focus();
}

readLink();
showProblem();
startTimes();
startForms();
startDrops();
startUploads();
startEditor();
startKeys();
startLive();
startCopying();

"""#
  ),
  ("icon.svg", #"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#a3122a"/><path d="M7 8h18v4.5h-6.5V25h-5V12.5H7z" fill="#fff"/></svg>

"""#
  ),
]
