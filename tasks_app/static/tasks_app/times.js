// Times in UTC, as the server writes them, or in the reader's own zone. What is typed into a form stays in the zone that
// its label names. The choice is the browser's.
"use strict";

(() => {
  const KEY = "punctual-times";
  const content = document.getElementById("content");
  const buttons = document.querySelectorAll("[data-times]");
  if (!content || !content.querySelector(".pu")) return;

  const moment = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
  const clock = /^\d\d:\d\d:\d\d\.\d{3}$/;
  const inWords = new Intl.DateTimeFormat("en", { timeZoneName: "short" });
  const named = new Map(); // texts that name the zone: as they were, and as they are shown
  const two = (number) => String(number).padStart(2, "0");
  const hour = (one) => `${two(one.getHours())}:${two(one.getMinutes())}:${two(one.getSeconds())}`;
  const day = (one) => `${one.getFullYear()}-${two(one.getMonth() + 1)}-${two(one.getDate())}`;
  let local = stored() === "local";

  function stored() {
    try { return localStorage.getItem(KEY); } catch { return null; }
  }

  // It depends on the day where clocks are put forward in summer.
  function offset(at) {
    return inWords.formatToParts(at).find((one) => one.type === "timeZoneName").value;
  }

  // By its offset if that is the same for all times beside it; else by its name: a heading is for times of all seasons.
  function zoneFor(element) {
    const times = element.querySelectorAll(":scope > time[datetime]");
    const offsets = new Set([...times].map((one) => offset(new Date(one.dateTime))));
    return offsets.size === 1 ? [...offsets][0] : inWords.resolvedOptions().timeZone;
  }

  function show() {
    for (const one of content.querySelectorAll("time[datetime]")) {
      const utc = one.dataset.utc || one.textContent;
      const at = new Date(one.dateTime);
      const own = moment.test(utc) ? `${day(at)} ${hour(at)}` : clock.test(utc) ? `${hour(at)}${utc.slice(-4)}` : utc;
      if (own === utc && !local) continue;
      one.dataset.utc = utc;
      const text = local ? own : utc;
      if (one.textContent !== text) one.textContent = text;
    }
    for (const [node, [before, after]] of named) {
      if (!local && node.nodeValue === after) node.nodeValue = before;
      if (!local || !node.isConnected) named.delete(node);
    }
    if (local) nameZone();
    for (const one of buttons) {
      one.hidden = false;
      one.textContent = local ? offset(new Date()) : "UTC";
      one.setAttribute("aria-pressed", String(local));
    }
  }

  // In headings, and in sentences that have a time in them.
  function nameZone() {
    const walk = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const around = node.parentElement;
      if (!/\bUTC\b/.test(node.nodeValue) || named.get(node)?.[1] === node.nodeValue) continue;
      if (around.closest("label, pre, code, .pu-filter")) continue;
      if (!around.matches("th, dt") && !around.querySelector(":scope > time")) continue;
      const before = node.nodeValue;
      node.nodeValue = before.replace(/\bUTC\b/g, zoneFor(around));
      named.set(node, [before, node.nodeValue]);
    }
  }

  buttons.forEach((one) => one.addEventListener("click", () => {
    local = !local;
    try { localStorage.setItem(KEY, local ? "local" : "utc"); } catch { /* then it is for this page */ }
    show();
  }));
  document.addEventListener("punctual:updated", show);
  show();
})();
