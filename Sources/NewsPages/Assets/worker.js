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
