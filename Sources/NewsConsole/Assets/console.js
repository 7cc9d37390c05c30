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

/** Sends a form with its files and reports the progress. The result is the page of the answer. */
function send(form, data, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", form.getAttribute("action"));
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(Math.floor((event.loaded * 100) / event.total));
    });
    request.addEventListener("load", () => {
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      resolve({ page, url: request.responseURL, ok: request.status < 300 });
    });
    request.addEventListener("error", () => reject(new Error("network")));
    request.send(data);
  });
}

/** Lets files be dropped on an area. */
function acceptDrops(area, onFiles) {
  const isFiles = (event) => event.dataTransfer?.types.includes("Files");
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
  const upload = async (data) => {
    try {
      const answer = await send(form, data, (percent) => {
        status.textContent = fill(form.dataset.progress, { percent });
      });
      if (answer.ok) {
        location.assign(answer.url);
      } else {
        status.textContent = answer.page.querySelector(".bad")?.textContent ?? "";
      }
    } catch {
      form.submit();
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    upload(new FormData(form));
  });
  acceptDrops(form, (files) => {
    const data = new FormData();
    data.append("csrf", form.elements.csrf.value);
    for (const file of files) data.append("upload", file);
    upload(data);
  });
}

function startEditor() {
  const form = document.getElementById("editor");
  if (!form) return;
  const status = form.querySelector("[data-status]");
  const { zone, saving, saved, notSaved, changed, progress } = form.dataset;
  let isChanged = form.dataset.unsaved === "true";
  let isLeaving = false;
  let timer = 0;
  let pending = false;
  let waiting = null;

  for (const field of form.querySelectorAll('input[type="datetime-local"]')) localise(field, zone);

  const autosaves = form.dataset.autosave === "true";
  const autosave = async () => {
    if (pending || isLeaving || !isChanged) return;
    pending = true;
    isChanged = false;
    status.textContent = saving;
    const data = new FormData(form);
    data.delete("upload");
    data.delete("choose");
    data.set("action", "save");
    try {
      const response = await fetch(form.getAttribute("action"), { method: "POST", body: data });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const revision = page.querySelector('#editor input[name="revision"]')?.value;
      if (!response.ok || !revision) throw new Error("refused");
      form.querySelector('input[name="revision"]').value = revision;
      const time = new Date().toLocaleTimeString(document.documentElement.lang, { timeStyle: "short" });
      status.textContent = isChanged ? changed : fill(saved, { time });
      if (isChanged) later();
    } catch {
      isChanged = true;
      status.textContent = notSaved;
    }
    pending = false;
    const submit = waiting;
    waiting = null;
    submit?.();
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(autosave, 2500);
  };

  form.addEventListener("input", (event) => {
    if (event.target.name === "upload" || event.target.name === "choose") return;
    isChanged = true;
    status.textContent = changed;
    if (autosaves) later();
  });
  form.addEventListener("submit", (event) => {
    // A preview opens another tab, and this one keeps its text.
    if (event.submitter?.formTarget === "_blank") return;
    isLeaving = true;
    clearTimeout(timer);
    if (!pending) return;
    // The form sends the revision that the draft gets meanwhile.
    event.preventDefault();
    const button = event.submitter;
    waiting = () => form.requestSubmit(button);
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
      if (list) document.getElementById("attachments").replaceWith(document.adoptNode(list));
      for (const box of form.querySelectorAll('input[name="choose"]')) box.checked = false;
      isChanged = true;
      status.textContent = answer.page.querySelector(".bad")?.textContent ?? changed;
      if (autosaves) later();
    } catch {
      status.textContent = notSaved;
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

/** Adds a button to each command that copies it. */
function startCopying() {
  if (!navigator.clipboard) return;
  for (const command of document.querySelectorAll(".command")) {
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

readLink();
startUploads();
startEditor();
startKeys();
startLive();
startCopying();
