// Made by scripts/embed from Sources/NewsPages/Assets; do not edit.
// swift-format-ignore-file

/// The names and texts of all files in Assets, sorted by name.
let embeddedAssets: [(name: String, text: String)] = [
  ("icon.svg", #"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#a3122a"/><path d="M7 8h18v4.5h-6.5V25h-5V12.5H7z" fill="#fff"/></svg>

"""#
  ),
  ("notify.js", #"""
// The button "Notify me" of lists. The service worker keeps the registration; this script asks for the permission,
// subscribes to the browser's push service, and shows what happens.
"use strict";

(() => {
  const area = document.getElementById("notify");
  const button = area.querySelector("button");
  const status = area.querySelector("[role=status]");
  const texts = area.dataset;
  const { topic } = area.dataset;
  const script = new URL(area.dataset.worker, location.href);
  const base = new URL(".", script).href;
  const workers = navigator.serviceWorker;

  class Failure extends Error {
    constructor(text) {
      super(text);
      this.text = text;
    }
  }

  // Sends a request to the service worker. Returns its answer; 0 if the server cannot be reached.
  function ask(registration, type, value) {
    return new Promise((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = (event) => resolve(event.data);
      registration.active.postMessage({ type, value }, [channel.port2]);
      setTimeout(resolve, 90000, 0);
    });
  }

  function check(code) {
    if (code >= 200 && code < 300) return;
    throw new Failure({ 0: texts.offline, 404: texts.missing, 429: texts.busy, 503: texts.busy }[code] || texts.failed);
  }

  async function serverKey() {
    let answer;
    try {
      answer = await fetch(`${base}v1/push`, { credentials: "omit" });
    } catch {
      throw new Failure(texts.offline);
    }
    check(answer.status);
    const offer = await answer.json();
    if (!offer.webPush) throw new Failure(texts.missing);
    return offer.webPush.publicKey;
  }

  // Returns the registration of the service worker, and the device that it keeps.
  async function current() {
    const registration = await workers.getRegistration(base);
    if (!registration || !registration.active) return {};
    return { registration, device: (await ask(registration, "state")) || undefined };
  }

  // Subscribes for the key of the server, and registers or renews the device. Without topics, all news is wanted.
  async function register(registration, device, topics) {
    const key = await serverKey();
    let subscription = await registration.pushManager.getSubscription();
    // A subscription is for one key.
    if (subscription && !(device && device.key === key)) {
      await subscription.unsubscribe();
      subscription = null;
    }
    subscription ||= await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const tags = [document.documentElement.lang, ...navigator.languages].map((tag) => tag.split("-")[0].toLowerCase());
    check(await ask(registration, "register", {
      key, topics, subscription: subscription.toJSON(), languages: [...new Set(tags)].slice(0, 20),
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, texts: { on: texts.on, news: texts.news },
    }));
  }

  async function start() {
    if ((await Notification.requestPermission()) !== "granted") throw new Failure(texts.denied);
    await workers.register(script, { scope: base });
    const registration = await workers.ready;
    const { device } = await current();
    const others = device ? device.topics || [] : [];
    await register(registration, device, topic && [...new Set([...others, topic])]);
  }

  // Ends the registration, or takes the topic of the page from it.
  async function stop() {
    const { registration, device } = await current();
    if (!device) return;
    const others = device.topics ? device.topics.filter((other) => other !== topic) : [];
    if (others.length > 0) {
      await register(registration, device, others);
      return;
    }
    const subscription = await registration.pushManager.getSubscription();
    if (subscription) await subscription.unsubscribe();
    const code = await ask(registration, "remove");
    if (code !== 404) check(code);
  }

  // Shows whether the news of this page are wanted. Returns it.
  async function show(text) {
    const { device } = await current();
    const isOn = Boolean(device && (!device.topics || device.topics.includes(topic)));
    button.textContent = isOn ? texts.stop : texts.start;
    status.textContent = text || (isOn ? (topic && !device.topics ? texts.all : texts.on) : "");
    button.onclick = () => change(isOn ? stop : start);
  }

  // Renews the registration at a visit, and ends it if the reader has withdrawn the permission.
  async function renew() {
    const { registration, device } = await current();
    if (!device) return;
    const isAllowed = Notification.permission === "granted";
    if (device.hasCode) await ask(registration, "confirm");
    if (!isAllowed || !(await registration.pushManager.getSubscription())) await ask(registration, "remove");
    else if (device.isDue) await register(registration, device, device.topics);
  }

  async function change(work) {
    button.disabled = true;
    let text = "";
    try {
      await work();
    } catch (error) {
      text = error instanceof Failure ? error.text : texts.failed;
    }
    await show(text);
    button.disabled = false;
  }

  async function begin() {
    await show();
    area.hidden = false;
    // A renewal that fails is tried again at the next visit.
    await change(() => renew().catch(() => {}));
  }

  const isSupported = isSecureContext && workers && "PushManager" in window && "Notification" in window;
  if (isSupported) begin();
})();

"""#
  ),
  ("reader.css", #"""
:root {
  color-scheme: light dark;
  --paper: #fffdfa;
  --panel: #f4f1eb;
  --ink: #17191e;
  --soft: #575c66;
  --line: #dcd7cd;
  --strong-line: #17191e;
  --accent: #a3122a;
  --on-accent: #fff;
  --link: #0a4d8c;
  --serif: Charter, "Bitstream Charter", "Iowan Old Style", "Palatino Linotype", Georgia, "Liberation Serif", serif;
  --sans: system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
}

@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161a;
    --panel: #1d2026;
    --ink: #ece9e3;
    --soft: #abb0b9;
    --line: #363a43;
    --strong-line: #ece9e3;
    --accent: #ff8f93;
    --on-accent: #14161a;
    --link: #93c8ff;
  }
}

*, ::before, ::after { box-sizing: border-box; }

html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }

body {
  display: flex;
  flex-direction: column;
  min-height: 100vh;
  margin: 0;
  background: var(--paper);
  color: var(--ink);
  font: 1.0625rem/1.55 var(--serif);
  overflow-wrap: anywhere;
}

.wrap { width: 100%; max-width: 74rem; margin-inline: auto; padding-inline: 1rem; }

h1, h2, h3, h4, h5, h6 { line-height: 1.2; text-wrap: balance; margin: 0; }
p { margin: 0; }
ul { list-style: none; margin: 0; padding: 0; }
img, video { display: block; max-width: 100%; height: auto; }
/* The alternative text of a picture that cannot be loaded. */
img { color: var(--soft); font: .75rem/1.4 var(--sans); }
audio { display: block; width: 100%; }

a { color: inherit; text-decoration: none; }
a:hover { text-decoration: underline; text-decoration-thickness: .08em; text-underline-offset: .16em; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 3px; border-radius: 2px; }
main:focus { outline: none; }

.skip {
  position: absolute;
  inset-inline-start: 1rem;
  top: -6rem;
  z-index: 2;
  padding: .6rem 1rem;
  background: var(--ink);
  color: var(--paper);
  font-family: var(--sans);
}
.skip:focus { top: .5rem; }

/* The note above a preview, in the console */
.preview-note { background: var(--ink); color: var(--paper); font: .9375rem/1.4 var(--sans); }
.preview-note .wrap { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem; padding-block: .6rem; }
.preview-note a { text-decoration: underline; }
.preview-note button { padding: .45rem .95rem; background: var(--paper); color: var(--ink); border: 1px solid var(--paper); border-radius: 4px; font: inherit; font-weight: 600; cursor: pointer; }
.preview-note :focus-visible { outline-color: var(--paper); }

/* Masthead */
.masthead { border-bottom: 1px solid var(--line); }
.masthead .brand {
  padding-block: 1.1rem .9rem;
  font-size: clamp(1.7rem, 1.2rem + 2.2vw, 2.7rem);
  font-weight: 700;
  line-height: 1.1;
  letter-spacing: -.02em;
}
.masthead .brand a:hover { text-decoration: none; color: var(--accent); }
.topics { border-top: 1px solid var(--line); }
.topics ul {
  display: flex;
  gap: 1.4rem;
  overflow-x: auto;
  scrollbar-width: none;
  font: 600 .9375rem/1.3 var(--sans);
}
.topics li { flex: none; }
.topics a { display: block; padding-block: .75rem; border-bottom: 3px solid transparent; }
.topics a:hover { text-decoration: none; border-color: var(--line); }
.topics a[aria-current] { border-color: var(--accent); }
.topics a:focus-visible { outline-offset: -3px; }

/* Lists */
main { flex: 1; padding-block: 1.75rem 3.5rem; }
.heading { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .3rem 1.5rem; }
.heading h1 { font: 700 1.1875rem/1.3 var(--sans); }
.heading p { font: .9375rem/1.3 var(--sans); }
.heading a { color: var(--link); text-decoration: underline; text-underline-offset: .16em; }
.notify { display: flex; flex-wrap: wrap; align-items: center; justify-content: end; gap: .3rem .9rem; margin-inline-start: auto; }
.notify[hidden] { display: none; }
.notify p { color: var(--soft); font-size: .875rem; }
.notify button { padding: .45rem .95rem; background: var(--paper); color: var(--ink); border: 1px solid var(--strong-line); border-radius: 3px; font: 600 .875rem/1.3 var(--sans); cursor: pointer; }
.notify button:hover { background: var(--ink); color: var(--paper); }
.notify button:disabled { opacity: .6; cursor: default; }
.heading { padding-bottom: .7rem; border-bottom: 2px solid var(--strong-line); margin-bottom: 1.5rem; }
.empty { padding-block: 3rem; color: var(--soft); text-align: center; }

.stories { display: grid; grid-template-columns: minmax(0, 1fr); }
.story { position: relative; padding-block: 1.25rem; }
.story:first-child { padding-top: 0; }
.story + .story { border-top: 1px solid var(--line); }
.pictured { display: grid; grid-template-columns: minmax(0, 1fr) 6.5rem; gap: 1.1rem; align-items: start; }
.pictured .picture { grid-column: 2; grid-row: 1; background: var(--panel); }
.picture img { width: 100%; aspect-ratio: 1; object-fit: cover; }
.story h2 { font-size: 1.25rem; letter-spacing: -.008em; }
.story h2 a::after { content: ""; position: absolute; inset: 0; }
.story .kicker { position: relative; z-index: 1; width: fit-content; }
.story:hover h2 a { text-decoration: underline; text-decoration-thickness: .06em; text-underline-offset: .14em; }
.story .excerpt {
  margin-top: .35rem;
  color: var(--soft);
  line-height: 1.5;
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 3;
  overflow: hidden;
}

/* The first story of a section leads. */
.stories:not(.continued) .story:first-child { padding-bottom: 1.75rem; }
.stories:not(.continued) .story:first-child h2 { font-size: clamp(1.75rem, 1.2rem + 2.1vw, 2.75rem); letter-spacing: -.02em; line-height: 1.12; }
.stories:not(.continued) .story:first-child .excerpt { font-size: 1.125rem; margin-top: .6rem; max-width: 42em; -webkit-line-clamp: 5; }
.stories:not(.continued) .pictured:first-child { display: block; }
.stories:not(.continued) .pictured:first-child .picture { margin-bottom: 1rem; }
.stories:not(.continued) .pictured:first-child img { aspect-ratio: 3 / 2; }

.kicker {
  display: flex;
  flex-wrap: wrap;
  gap: .2rem .9rem;
  margin-bottom: .35rem;
  color: var(--accent);
  font: 600 .8125rem/1.5 var(--sans);
}
.breaking { padding-inline: .45rem; border-radius: 2px; background: var(--accent); color: var(--on-accent); }
.meta {
  display: flex;
  flex-wrap: wrap;
  gap: .1rem .9rem;
  margin-top: .6rem;
  color: var(--soft);
  font: .8125rem/1.5 var(--sans);
}
.meta span { color: var(--ink); font-weight: 600; }

.pager {
  display: flex;
  flex-wrap: wrap;
  gap: .75rem;
  margin-top: 2rem;
  font: 600 .9375rem/1.3 var(--sans);
}
.pager a { padding: .75rem 1.15rem; border: 1px solid var(--strong-line); border-radius: 3px; }
.pager a:hover { background: var(--ink); color: var(--paper); text-decoration: none; }
.pager [rel=next] { margin-inline-start: auto; }

@media (min-width: 44rem) {
  .wrap { padding-inline: 1.75rem; }
  .pictured { grid-template-columns: minmax(0, 1fr) 11rem; gap: 1.75rem; }
  .picture img { aspect-ratio: 3 / 2; }
  .stories:not(.continued) .pictured:first-child { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 2.25rem; }
  .stories:not(.continued) .pictured:first-child .picture { margin: 0; }
}

@media (min-width: 62rem) {
  .stories { grid-template-columns: repeat(2, minmax(0, 1fr)); column-gap: 3.5rem; }
  .stories:not(.continued) .story:first-child { grid-column: 1 / -1; }
  .continued .story:nth-child(2) { padding-top: 0; border-top: 0; }
  .pictured { grid-template-columns: minmax(0, 1fr) 10rem; }
}

/* An item */
.item { max-width: 42rem; margin-inline: auto; }
.item h1 { font-size: clamp(1.85rem, 1.3rem + 2.4vw, 2.9rem); letter-spacing: -.02em; line-height: 1.12; }
.item .standfirst { margin-top: .9rem; color: var(--soft); font-size: 1.25rem; line-height: 1.45; }
.item > header { margin-bottom: 1.6rem; }
.item > header .kicker { margin-bottom: .6rem; }
.item > header .meta { margin-top: 1.1rem; padding-top: .8rem; border-top: 1px solid var(--line); font-size: .9375rem; }
figure { margin: 1.75rem 0; }
figure img { width: 100%; background: var(--panel); }
figcaption {
  display: flex;
  flex-wrap: wrap;
  gap: 0 .7rem;
  padding-top: .55rem;
  color: var(--soft);
  font: .875rem/1.45 var(--sans);
}
.credit { font-style: italic; }
.body { font-size: 1.1875rem; line-height: 1.65; }
.body > * + * { margin-top: 1.15em; }
.body a, .original a, .files a, .back a, .notice a { color: var(--link); text-decoration: underline; text-underline-offset: .16em; text-decoration-thickness: .07em; }
.body a:hover, .original a:hover, .files a:hover, .back a:hover, .notice a:hover { text-decoration-thickness: .14em; }
.body h2, .body h3, .body h4, .body h5, .body h6 { margin-top: 1.7em; font-size: 1.35em; letter-spacing: -.01em; }
.body h3 { font-size: 1.18em; }
.body h4, .body h5, .body h6 { font-size: 1em; }
.body h2 + *, .body h3 + *, .body h4 + * { margin-top: .6em; }
.body ul, .body ol { list-style: revert; padding-inline-start: 1.35em; }
.body li + li { margin-top: .35em; }
.body blockquote { margin-inline: 0; padding-inline-start: 1.15em; border-inline-start: 3px solid var(--accent); color: var(--soft); }
.body pre { padding: 1rem; background: var(--panel); font-size: .85em; line-height: 1.5; white-space: pre-wrap; }
.body code, .body pre { font-family: ui-monospace, "Liberation Mono", Menlo, Consolas, monospace; }
.body table { display: block; overflow-x: auto; border-collapse: collapse; font: .875rem/1.5 var(--sans); }
.body th, .body td { padding: .5rem .8rem .5rem 0; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; overflow-wrap: normal; }
.body hr { border: 0; border-top: 1px solid var(--line); margin-block: 2em; }
.files { margin-top: 2rem; padding: 1.1rem 1.25rem; background: var(--panel); font-family: var(--sans); font-size: .9375rem; }
.files h2 { font-size: 1rem; margin-bottom: .5rem; }
.files li + li { margin-top: .35rem; }
.files .type, .files .credit { color: var(--soft); font-size: .8125rem; }
.original { margin-top: 2rem; font: .9375rem/1.5 var(--sans); }
.back { max-width: 42rem; margin: 2.5rem auto 0; padding-top: 1rem; border-top: 1px solid var(--line); font: 600 .9375rem/1.5 var(--sans); }

/* Errors */
.notice { max-width: 34rem; padding-block: 2rem 3rem; }
.notice .status { color: var(--accent); font: 700 1rem/1.5 var(--sans); }
.notice h1 { font-size: clamp(1.85rem, 1.3rem + 2vw, 2.6rem); letter-spacing: -.02em; }
.notice p + p, .notice h1 + p, .notice blockquote + p { margin-top: 1rem; }
.notice blockquote { margin: 1.25rem 0; padding-inline-start: 1.15em; border-inline-start: 3px solid var(--accent); }

.footer { border-top: 1px solid var(--line); background: var(--panel); font: .875rem/1.5 var(--sans); color: var(--soft); }
.footer .wrap { display: flex; flex-wrap: wrap; align-items: baseline; gap: .5rem 2rem; padding-block: 1.6rem; }
.footer .brand { color: var(--ink); font: 700 1.0625rem/1.3 var(--serif); }
.footer ul { display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; }
.footer ul a { color: var(--link); text-decoration: underline; text-underline-offset: .16em; }

@media (prefers-reduced-motion: no-preference) {
  .topics a, .pager a { transition: background-color .15s, border-color .15s, color .15s; }
}

@media print {
  .topics, .pager, .skip, .back, .notify { display: none; }
}

"""#
  ),
  ("worker.js", #"""
// The service worker of the reader pages. It shows pushes, and keeps the registration of this browser as a device.
"use strict";

const base = self.registration.scope;
const hour = 3600 * 1000;
const week = 7 * 24 * hour;

self.addEventListener("install", () => self.skipWaiting());

// The device is one record: id, secret, subscription, key, topics, languages, timeZone, texts, the code that is to be
// returned, and the times since when it is registered and when it was renewed, in milliseconds.
async function store(mode, work) {
  const database = await new Promise((resolve, reject) => {
    const request = indexedDB.open("tidings", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("device");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction("device", mode);
      const request = work(transaction.objectStore("device"));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

const stored = () => store("readonly", (device) => device.get("this"));
const save = (value) => store("readwrite", (device) => device.put(value, "this"));
const forget = () => store("readwrite", (device) => device.delete("this"));

// One change of the device at a time: the first push may arrive before the response to the registration is stored.
let turns = Promise.resolve();
function inTurn(work) {
  const turn = turns.then(work);
  turns = turn.catch(() => {});
  return turn;
}

function send(method, path, body, secret) {
  const headers = { "Content-Type": "application/json" };
  if (secret) headers.Authorization = `Bearer ${secret}`;
  return fetch(base + path, {
    method, headers, body: body && JSON.stringify(body), credentials: "omit", signal: AbortSignal.timeout(30000),
  });
}

// Returns the topics that still exist.
async function known(topics) {
  const answer = await fetch(`${base}v1/topics`, { credentials: "omit", signal: AbortSignal.timeout(30000) });
  const slugs = (await answer.json()).topics.map((topic) => topic.slug);
  return topics.filter((topic) => slugs.includes(topic));
}

// Sends a registration. The server deletes a device that is not renewed; it then becomes a new one.
function sent(device) {
  const { subscription, topics, languages, timeZone, id, secret } = device;
  const body = { provider: "webpush", kind: "browser", alerts: true, subscription, topics, languages, timeZone };
  return id ? send("PUT", `v1/devices/${id}`, body, secret) : send("POST", "v1/devices", body);
}

// Registers the device, or renews it with changes. Returns the status of the response.
async function register(changes) {
  const old = await stored();
  const device = { ...old, ...changes };
  let answer = await sent(device);
  if (answer.status === 404 && device.id) {
    delete device.id;
    answer = await sent(device);
  }
  if (answer.status === 422) {
    // The server may not know the name of the time zone, and topics may have been deleted.
    delete device.timeZone;
    if (device.topics) device.topics = await known(device.topics);
    if (device.topics && device.topics.length === 0) {
      await remove();
      return 404;
    }
    answer = await sent(device);
  }
  if (!answer.ok) return answer.status;
  const isKept = old && old.id === device.id && old.subscription.endpoint === device.subscription.endpoint;
  const now = Date.now();
  const { id, secret } = await answer.json();
  await save({ ...device, id, secret, since: isKept ? old.since : now, renewed: now });
  return answer.status;
}

// Whether a device must be renewed: weekly, and once after the hour in which it must return its code.
function isDue({ since, renewed }) {
  const now = Date.now();
  return now - renewed > week || (renewed - since < hour && now - since > hour);
}

async function remove() {
  const device = await stored();
  if (!device) return 404;
  const answer = await send("DELETE", `v1/devices/${device.id}`, undefined, device.secret);
  // Another response leaves the device for another attempt.
  if (answer.ok || answer.status === 404) await forget();
  return answer.status;
}

// The requests of pages.
const requests = {
  register,
  remove,
  confirm,
  async state() {
    const device = await stored();
    return device && { topics: device.topics, key: device.key, isDue: isDue(device), hasCode: Boolean(device.code) };
  },
};

self.addEventListener("message", (event) => {
  const { type, value } = event.data;
  const answer = inTurn(() => requests[type](value));
  // The status of a request without a response is 0.
  event.waitUntil(answer.catch(() => 0).then((result) => event.ports[0].postMessage(result)));
});

// The page of the item on this site, or else the address of the item.
function address(push) {
  const id = push["content-id"];
  if (/^[0-9a-f-]{36}$/.test(id)) return `${base}items/${id}`;
  const url = URL.parse ? URL.parse(push.url) : null;
  return url && /^https?:$/.test(url.protocol) ? url.href : base;
}

async function show(push) {
  const device = await stored().catch(() => undefined);
  const texts = (device && device.texts) || {};
  // Browsers end subscriptions whose pushes show nothing. A message that arrives twice has the same tag.
  const text = (push.code ? texts.on : texts.news) || new URL(base).host;
  await self.registration.showNotification(push.title || text, {
    body: push.body || "", tag: push["content-id"] || push.push || "push", data: address(push),
  });
}

// Returns the code of the first push. Without a response, it is sent again with the next push or visit.
async function confirm() {
  const { code, ...device } = (await stored()) || {};
  if (!code) return;
  const answer = await send("PUT", `v1/devices/${device.id}/confirmation`, { code }, device.secret);
  if (answer.ok || answer.status === 404 || answer.status === 422) await save(device);
}

async function respond(push) {
  let device = await stored();
  if (!device) return;
  if (push.code) {
    device = { ...device, code: push.code };
    await save(device);
  }
  await confirm().catch(() => {});
  if (push.report && push.token) {
    const report = { token: push.token, push: push.push, result: "newData" };
    await send("PUT", `v1/devices/${device.id}/state`, report, device.secret);
  }
  if (isDue(device)) await register();
}

self.addEventListener("push", (event) => {
  let push = {};
  try {
    push = event.data.json() || {};
  } catch {
    // A push without content, or of another sender, has the general text.
  }
  // The notification waits for no request.
  event.waitUntil(Promise.all([show(push), inTurn(() => respond(push))]));
});

async function open(target) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const shown = windows.find((client) => client.url === target);
  return shown ? shown.focus() : self.clients.openWindow(target);
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

// The browser has replaced or ended the subscription.
async function resubscribe(event) {
  const device = await stored();
  if (!device) return;
  const options = { userVisibleOnly: true, applicationServerKey: device.key };
  const subscription = event.newSubscription || (await self.registration.pushManager.subscribe(options));
  await register({ subscription: subscription.toJSON() });
}

self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(inTurn(() => resubscribe(event))));

"""#
  ),
]
