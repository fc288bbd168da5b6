// The console's form of a job: shows what it would be like while somebody types. Without this the button does it.

import { Drafting, told, worthShowing } from "./draft.js";
import { dress, make } from "./looks.js";
import { languageOf, TEXTS } from "./texts.js";

function follow(form) {
  const language = languageOf(document.documentElement), place = document.getElementById(form.dataset.draftInto), touched = new Set();
  const root = place.attachShadow({ mode: "open" }), panel = make("section", { class: "panel", "aria-live": "polite" });
  dress(root);
  const field = (name) => form.elements.namedItem(name);

  async function ask(signal) {
    const body = new FormData(form);
    body.set("preview", "1");
    body.delete("typed_by"); // nothing to keep for after a login: the form itself is still there
    const answer = await fetch(form.dataset.draft, { method: "POST", body, signal, headers: { Accept: "application/json" } });
    if (!answer.ok || answer.redirected) throw new Error(`HTTP ${answer.status}`);
    return answer.json();
  }

  function show(draft) {
    const zone = field("timezone").value;
    const onJitter = (seconds) => { field("jitter").value = seconds; drafting.changed(); };
    const parts = told(draft, { texts: TEXTS[language], language, zone, onJitter });
    panel.replaceChildren(...parts);
    root.replaceChildren(...(parts.length ? [panel] : []));
    for (const one of form.querySelectorAll("[data-draft-error]")) one.remove();
    for (const { field: name, detail } of worthShowing(draft?.errors ?? [], (one) => field(one)?.value ?? "", touched)) {
      const control = field(name);
      if (!control || control.parentElement.querySelector(".pu-error")) continue;
      control.parentElement.append(make("span", { class: "pu-error", role: "alert", "data-draft-error": "", text: detail }));
    }
  }

  const drafting = new Drafting({ ask, show });
  form.addEventListener("input", () => drafting.changed());
  form.addEventListener("focusout", (event) => { if (event.target.name) touched.add(event.target.name); });
  if (field("cron").value || field("every").value || field("at").value) drafting.changed();
}

document.querySelectorAll("form[data-draft]").forEach(follow);
