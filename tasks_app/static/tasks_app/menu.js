// The menu of a narrow window with the keyboard: it opens on its first button, Escape closes it, and the focus goes back.
"use strict";
(() => {
    const opener = () => document.getElementById("menu-open");
    const isOpen = () => opener()?.getAttribute("aria-expanded") === "true";

    // Alpine.js shows and hides the menu in a moment of its own.
    const afterwards = (move) => setTimeout(move, 0);

    document.addEventListener("click", (event) => {
        if (event.target.closest?.("#menu-open")) {
            afterwards(() => isOpen() && document.getElementById("menu-close")?.focus());
        } else if (event.target.closest?.("#menu-close")) {
            afterwards(() => opener()?.focus());
        }
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && isOpen() && event.target.closest?.("#nav-sidebar")) {
            document.getElementById("menu-close").click();
        }
    });
})();
