// Tells the server the browser's time zone, in a cookie. A page that was made for another zone is made again, once.
"use strict";
(() => {
    const line = document.getElementById("pa-zone");
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (!line || !zone) {
        return;
    }
    document.cookie = `punctual_zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax`;
    const form = document.getElementById("pa-page");
    const typed = form && form.dataset.dirty === "yes";
    const tried = sessionStorage.getItem("punctual_zone_tried") === zone;
    if (line.dataset.chosen === "no" && line.dataset.zone !== zone && !typed && !tried) {
        sessionStorage.setItem("punctual_zone_tried", zone);
        location.replace(location.href);
    }
})();
