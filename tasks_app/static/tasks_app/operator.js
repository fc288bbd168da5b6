// The operator's pages work without this; it refreshes the overview, the campaigns and what runs, and counts what is chosen.
"use strict";

function refreshOverview(overview) {
  const stale = overview.querySelector("[data-stale]");
  const pause = Number(overview.dataset.refreshSeconds) * 1000;
  let waiting = false;

  async function look() {
    if (document.visibilityState !== "visible" || waiting) return;
    waiting = true;
    try {
      const answer = await fetch(overview.dataset.refresh, { cache: "no-store", signal: AbortSignal.timeout(10000) });
      if (!answer.ok || answer.redirected) throw new Error(`the server answered ${answer.status}`);
      showParts(overview, new DOMParser().parseFromString(await answer.text(), "text/html"));
      stale.hidden = true;
    } catch {
      stale.hidden = false;
    }
    waiting = false;
  }

  setInterval(look, pause);
  document.addEventListener("visibilitychange", look);
}

// Only what has changed is replaced, so that a screen reader hears of it once; open details and the focus stay.
function showParts(overview, fresh) {
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const shown = overview.querySelector(`[data-part="${part.dataset.part}"]`);
    const [from, to] = [part.querySelector("[data-live]") || part, shown.querySelector("[data-live]") || shown];
    if (from.innerHTML.trim() === to.innerHTML.trim()) continue;
    const open = [...to.querySelectorAll("details[open]")].map((one) => one.id);
    const focusable = "a, summary, [tabindex]";
    const focus = [...to.querySelectorAll(focusable)].indexOf(document.activeElement);
    const scrolled = [...to.querySelectorAll(".pu-scroll")].map((one) => [one.scrollLeft, one.scrollTop, isAtEnd(one)]);
    to.replaceChildren(...from.childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    to.querySelectorAll(".pu-scroll").forEach((one, n) => {
      if (scrolled[n]) [one.scrollLeft, one.scrollTop] = scrolled[n];
      if (!scrolled[n] || scrolled[n][2]) showEnd(one);
    });
    if (focus >= 0) to.querySelectorAll(focusable)[focus]?.focus({ preventScroll: true });
  }
}

// Of a log, the end is what one looks for; whoever has scrolled up to read stays there.
function isAtEnd(one) {
  return one.scrollHeight - one.scrollTop - one.clientHeight < 4;
}

function showEnd(one) {
  if ("tail" in one.dataset) one.scrollTop = one.scrollHeight;
}

function countChosen(form) {
  const all = form.querySelector("[data-all]");
  const boxes = [...form.querySelectorAll('input[name="ids"]')];
  const words = form.querySelector("[data-chosen]");
  if (!all) return;
  all.hidden = false;
  function show() {
    const chosen = boxes.filter((box) => box.checked).length;
    all.checked = chosen === boxes.length;
    all.indeterminate = chosen > 0 && chosen < boxes.length;
    words.textContent = chosen ? words.dataset.chosen.replace("{}", chosen) : "";
  }
  all.addEventListener("change", () => { boxes.forEach((box) => { box.checked = all.checked; }); show(); });
  boxes.forEach((box) => box.addEventListener("change", show));
  show();
}

// A page that found nothing yet goes on by itself, until it finds something, there is no more, or somebody leaves.
function keepLooking(link) {
  const stop = document.querySelector("[data-stop]");
  let wanted = true;
  stop.addEventListener("click", (event) => { event.preventDefault(); wanted = false; stop.remove(); });
  setTimeout(() => { if (wanted) location.replace(link.href); }, 200);
}

document.querySelectorAll("[data-keep-looking]").forEach(keepLooking);
document.querySelectorAll("[data-tail]").forEach(showEnd);
document.querySelectorAll("[data-refresh]").forEach(refreshOverview);
document.querySelectorAll("[data-selection]").forEach(countChosen);
document.querySelectorAll("[data-once]").forEach((form) =>
  form.addEventListener("submit", () => setTimeout(() => form.querySelectorAll("button").forEach((one) => { one.disabled = true; }))));
