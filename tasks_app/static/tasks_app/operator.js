// The operator's pages work without this; it counts what is chosen, keeps looking, and sends a form once.
"use strict";

// The rows of a list come and go while it is open (live.js), so the form listens for all of them.
function countChosen(form) {
  const words = form.querySelector("[data-chosen]");
  const boxes = () => [...form.querySelectorAll('input[name="ids"]')];
  function show() {
    const all = form.querySelector("[data-all]");
    const chosen = boxes().filter((box) => box.checked).length;
    if (all) {
      all.hidden = false;
      all.checked = chosen > 0 && chosen === boxes().length;
      all.indeterminate = chosen > 0 && !all.checked;
    }
    words.textContent = chosen ? words.dataset.chosen.replace("{}", chosen) : "";
  }
  form.addEventListener("change", ({ target }) => {
    if ("all" in target.dataset) boxes().forEach((box) => { box.checked = target.checked; });
    show();
  });
  document.addEventListener("punctual:updated", show);
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
document.querySelectorAll("[data-selection]").forEach(countChosen);
document.querySelectorAll("[data-once]").forEach((form) =>
  form.addEventListener("submit", () => setTimeout(() => form.querySelectorAll("button").forEach((one) => { one.disabled = true; }))));
