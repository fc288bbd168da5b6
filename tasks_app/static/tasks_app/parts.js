// What django-unfold's expressions take from the page. The build of Alpine.js that needs no eval knows no globals, and
// nothing but expressions: neither statements nor functions.
"use strict";

document.addEventListener("alpine:init", () => {
  const WIDE = "sidebarDesktopOpen";

  // From unfold's app.js.
  Alpine.data("theme", (...scheme) => theme(...scheme));
  Alpine.data("searchForm", () => searchForm());
  Alpine.data("searchCommand", () => {
    const command = searchCommand();
    return {
      ...command,
      // It is shown with the next frame, which may come later than unfold expects; and what is hidden takes no focus.
      handleOpen() {
        command.handleOpen.call(this);
        requestAnimationFrame(() => requestAnimationFrame(() => this.$refs.searchInputCommand.focus()));
      },
    };
  });

  // The whole page: its tab, and whether the menu is shown.
  Alpine.data("page", (tab = "") => ({
    activeTab: tab,
    sidebarMobileOpen: false,
    sidebarDesktopOpen: localStorage.getItem(WIDE) !== "0",
    window: {
      location: {
        get pathname() {
          return location.pathname;
        },
        get search() {
          return location.search;
        },
      },
    },
    sortRecords: (event) => sortRecords(event),
    moveRecords: (event) => moveRecords(event),
    init() {
      this.activeTab = (tab && getCurrentTab()) || tab;
      this.$watch(WIDE, (open) => localStorage.setItem(WIDE, open ? "1" : "0"));
    },
  }));
});

// Until then the page is hidden, and what is hidden can't have the focus. It is shown right after the event.
document.addEventListener("alpine:initialized", () =>
  setTimeout(() => {
    if (document.activeElement === document.body) document.querySelector("[autofocus]")?.focus();
  }),
);

// A chart of unfold's, which a project's own page may have, is drawn when the page has loaded, and that waits for this.
if (document.querySelector("canvas.chart")) {
  const library = document.createElement("script");
  library.src = document.currentScript.dataset.charts;
  document.head.append(library);
}
