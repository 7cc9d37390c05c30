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
