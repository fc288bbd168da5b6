// "/" opens the search over pages, jobs and tasks, as Ctrl+K does; whoever closes it is back where they were.
"use strict";

(() => {
  const isTyping = (one) => one.matches("input, textarea, select") || one.isContentEditable;
  const input = () => document.getElementById("search-input-command");
  let before = null;

  function open() {
    before = document.activeElement;
    window.dispatchEvent(new CustomEvent("opencommand"));
  }

  document.querySelectorAll("[data-palette]").forEach((one) => {
    one.hidden = !input();
    one.addEventListener("click", open);
  });
  // The search of a list says that "/" leads there, and it leads here.
  document.querySelectorAll("#changelist-search kbd").forEach((one) => { one.hidden = Boolean(input()); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target === input() && !input().value) before?.focus({ preventScroll: true });
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !input()) return;
    event.preventDefault();
    open();
  });
})();
