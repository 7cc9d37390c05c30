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
