// Keeps a page up to date: it asks for its own address again whenever the server says that something has changed, or by
// the clock where there is no stream, and puts in what is different. Without it the page stays as it was loaded.
"use strict";

(() => {
  const place = document.getElementById("pu-live");
  const content = document.getElementById("content");
  if (!place || !content) return;

  const CHANNEL = "punctual-live";
  const POLL_SECONDS = 5; // without a stream
  const SILENT_SECONDS = 45; // a stream that says nothing for so long is none
  const AGAIN_SECONDS = 60; // until a stream that was refused is asked for again
  const LONGEST_SECONDS = 60; // between two tries while nobody answers
  const POINTED_SECONDS = 1.5; // rows don't move under a pointer or a finger that is about to choose one
  const topics = new Set(place.dataset.topics.split(" "));
  const others = "BroadcastChannel" in window ? new BroadcastChannel(CHANNEL) : null;
  let shownAt = new Date();
  let readAt = 0; // by the server's clock, which only the server can read; 0: it has not said, of the page as it was loaded
  let toldAt = 0; // by the same: of what was told last
  let heardAt = Date.now(); // from the stream, in whichever tab it is
  let failures = 0;
  let notBefore = 0;
  let looking = false;
  let pointedAt = 0; // at a list of which something can be chosen
  let wanted = false; // something changed while the page could not look

  const isVisible = () => document.visibilityState === "visible";
  const isChosen = () => document.querySelector('[data-selection] input[name="ids"]:checked') !== null;
  const isSearching = () => content.querySelector("[data-keep-looking]") !== null;

  // ---- looking ----

  async function look() {
    wanted = true;
    if (!isVisible() || looking || isSearching() || Date.now() < notBefore) return;
    if (isChosen()) return tell("chosen");
    if (Date.now() - pointedAt < 1000 * POINTED_SECONDS) return;
    looking = true;
    wanted = false;
    const trouble = await ask();
    looking = false;
    if (failures && !trouble) refusedAt = 0;
    failures = trouble ? failures + 1 : 0;
    notBefore = trouble ? Date.now() + 1000 * Math.min(LONGEST_SECONDS, 2 ** failures) * (0.75 + Math.random() / 2) : 0;
    wanted = wanted || trouble !== null;
    tell(trouble);
  }

  // What kept the page from being updated; null: nothing did.
  async function ask() {
    try {
      const answer = await fetch(location.href, {
        headers: { "Punctual-Live": readAt ? Math.max(readAt, toldAt) : "1" }, // nothing older than that is shown
        cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(20000),
      });
      if (answer.type === "opaqueredirect" || answer.status === 401) return "login";
      if (answer.status === 403) return "refused";
      if (answer.status === 404) return "gone";
      if (answer.status === 503 || answer.status === 429) return "busy";
      if (!answer.ok) return "unreachable";
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!fresh.getElementById("content")) return "unreachable"; // something in between has answered
      if (!isChosen()) {
        show(fresh);
        readAt = Number(answer.headers.get("Punctual-Live"));
        shownAt = new Date(Date.now() - 1000 * Number(answer.headers.get("Age")));
      }
      return null;
    } catch {
      return navigator.onLine ? "unreachable" : "offline";
    }
  }

  function tell(what) {
    for (const one of place.querySelectorAll("[data-live-told]")) {
      const hidden = one.dataset.liveTold !== what;
      if (one.hidden !== hidden) one.hidden = hidden;
      for (const at of one.querySelectorAll("[data-live-at]")) {
        at.dateTime = shownAt.toISOString();
        at.textContent = shownAt.toLocaleTimeString();
      }
    }
  }

  // ---- showing ----

  function show(fresh) {
    const token = fresh.querySelector('[name="csrfmiddlewaretoken"]');
    const atEnd = [...content.querySelectorAll("[data-tail]")].filter(isAtEnd);
    token?.remove();
    for (const id of ["pu-banner", "content"]) {
      const shown = document.getElementById(id);
      if (shown) patchChildren(shown, fresh.getElementById(id));
    }
    // After another login, forms that were loaded before it count with its token alone.
    if (token) document.querySelectorAll('[name="csrfmiddlewaretoken"]').forEach((one) => { one.value = token.value; });
    content.querySelectorAll("[data-tail]").forEach((one) => {
      if (atEnd.includes(one) || !("live" in one.dataset)) showEnd(one);
    });
    document.dispatchEvent(new CustomEvent("punctual:updated"));
  }

  // Only what differs is touched: so a screen reader hears of it once, and the focus, what is open, what is typed and
  // where one has scrolled to stay.
  function patch(shown, fresh) {
    if (shown.nodeType !== fresh.nodeType || shown.nodeName !== fresh.nodeName || shown.id !== fresh.id) {
      shown.replaceWith(document.importNode(fresh, true));
    } else if (shown.nodeType === Node.ELEMENT_NODE) {
      if ("keep" in shown.dataset) return;
      if (shown.isEqualNode(fresh)) return;
      patchAttributes(shown, fresh);
      if (!shown.matches("input, textarea, select, script")) patchChildren(shown, fresh);
    } else if (shown.nodeValue !== fresh.nodeValue) {
      shown.nodeValue = fresh.nodeValue;
    }
  }

  function patchAttributes(shown, fresh) {
    const own = belongsToReader(shown);
    for (const { name } of [...shown.attributes]) {
      if (!fresh.hasAttribute(name) && name !== own) shown.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (shown.getAttribute(name) !== value && name !== own) shown.setAttribute(name, value);
    }
  }

  function belongsToReader(shown) {
    if (shown.matches("details")) return "open";
    if (shown.matches('[type="checkbox"], [type="radio"]')) return "checked";
    return shown.matches('input:not([type="hidden"])') ? "value" : null;
  }

  function patchChildren(shown, fresh) {
    if (shown.matches("tbody") && patchRows(shown, fresh)) return;
    const [before, after] = [[...shown.childNodes].filter(counts), [...fresh.childNodes].filter(counts)];
    before.slice(after.length).forEach((one) => one.remove());
    after.forEach((one, n) => {
      if (n < before.length) patch(before[n], one);
      else shown.append(" ", document.importNode(one, true));
    });
  }

  // A row stays the row of what it is about, wherever in the list that is now: so does the focus in it.
  function patchRows(shown, fresh) {
    const [before, after] = [byLink(shown), byLink(fresh)];
    if (!before || !after) return false;
    for (const [link, row] of before) if (!after.has(link)) row.remove();
    let next = shown.firstElementChild;
    for (const [link, row] of after) {
      const here = before.get(link);
      if (here && here === next) next = next.nextElementSibling;
      else shown.insertBefore(here || document.importNode(row, true), next);
      if (here) patch(here, row);
    }
    return true;
  }

  // null: rows without a link of their own.
  function byLink(body) {
    const rows = new Map([...body.rows].map((row) => [row.querySelector("th a")?.getAttribute("href"), row]));
    return rows.size === body.rows.length && !rows.has(undefined) ? rows : null;
  }

  const counts = (node) => node.nodeType === Node.ELEMENT_NODE || (node.nodeType === Node.TEXT_NODE && node.nodeValue.trim());

  // Of a log, the end is what one looks for; whoever has scrolled up to read stays there.
  const isAtEnd = (one) => one.scrollHeight - one.scrollTop - one.clientHeight < 4;

  function showEnd(one) {
    one.dataset.live = "";
    one.scrollTop = one.scrollHeight;
  }

  // ---- hearing ----

  function hear(kinds) {
    heardAt = Date.now();
    toldAt = Number(kinds.find((one) => one.startsWith("@"))?.slice(1) ?? toldAt);
    if (kinds.some((one) => topics.has(one))) look();
  }

  // One stream for a browser: the tab that has the lock has it, and tells the others. Where a browser has no locks (an
  // address without TLS), each visible tab has one.
  let stop = null; // lets go of the stream, or of waiting for it
  let refusedAt = 0;

  function listen() {
    if (stop || !isVisible() || Date.now() - refusedAt < 1000 * AGAIN_SECONDS) return;
    const given_up = new AbortController();
    stop = () => { given_up.abort(); stop = null; };
    if (navigator.locks && others) {
      navigator.locks.request(CHANNEL, { signal: given_up.signal }, () => held(given_up.signal)).catch(() => {});
    } else {
      held(given_up.signal);
    }
  }

  // Lasts as long as the stream.
  function held(signal) {
    return new Promise((done) => {
      const stream = new EventSource(place.dataset.stream);
      const end = () => { stream.close(); done(); };
      if (signal.aborted) return end();
      signal.addEventListener("abort", end);
      stream.addEventListener("look", ({ data }) => {
        others?.postMessage(data);
        hear(data.split(" "));
      });
      stream.addEventListener("error", () => {
        if (stream.readyState !== EventSource.CLOSED) return; // it comes back by itself
        refusedAt = Date.now();
        stop?.();
        look();
      });
    });
  }

  function tick() {
    if (!isVisible()) return;
    listen();
    const silent = Date.now() - heardAt > 1000 * (stop ? SILENT_SECONDS : POLL_SECONDS);
    if (silent) heardAt = Date.now();
    if (silent || (wanted && !looking)) look();
    if (!isChosen()) document.querySelector('[data-live-told="chosen"]').hidden = true;
  }

  document.addEventListener("visibilitychange", () => {
    if (!isVisible()) return stop?.();
    notBefore = 0;
    listen();
    look();
  });
  for (const kind of ["pointermove", "pointerdown", "keydown"]) {
    content.addEventListener(kind, ({ target }) => { if (target.closest("[data-selection] table")) pointedAt = Date.now(); });
  }
  window.addEventListener("online", () => { notBefore = 0; look(); });
  window.addEventListener("offline", () => tell("offline"));
  window.addEventListener("pagehide", () => stop?.());
  window.addEventListener("pageshow", tick);
  others?.addEventListener("message", ({ data }) => hear(data.split(" ")));
  content.querySelectorAll("[data-tail]").forEach(showEnd);
  setInterval(tick, 1000);
  listen();
})();
