// Keeps what is typed into an article's form in the browser until it is saved, and offers it back: after a lost session,
// a crash, a closed tab. Only to who typed it, and for a week.
"use strict";
(() => {
    const PREFIX = "punctual_article:";
    const SENT = "punctual_article_sent";
    const WEEK_MS = 7 * 86400 * 1000;
    const PAUSE_MS = 300;
    const TYPED = ["title", "body", "publish_time", "offline_time"];
    const NOT_KEPT = ["csrfmiddlewaretoken", "typed_by", "creation"];
    const note = document.getElementById("pa-kept");
    if (!note) {
        return;
    }
    const user = note.dataset.user;
    const key = `${PREFIX}${location.pathname}`;
    const form = () => document.getElementById("pa-form");
    let timer = null;

    function shown() {
        const values = {};
        for (const { name, value, type } of form()?.elements || []) {
            if (name && type !== "submit" && type !== "radio" && !NOT_KEPT.includes(name)) {
                values[name] = value;
            }
        }
        return values;
    }

    // As the server sent it: one may have typed before this script came.
    function given() {
        return Object.fromEntries(TYPED.map((name) => [name, form()?.elements[name]?.defaultValue]));
    }

    // As the server compares them: without what nobody sees.
    function plain(name, value = "") {
        const text = value.replaceAll("\r\n", "\n").trim();
        return name.endsWith("_time") ? text.replace(/^(.{16}):00$/, "$1") : text;
    }

    function differs(kept, than) {
        return TYPED.filter((name) => name in kept && plain(name, kept[name]) !== plain(name, than[name]));
    }

    function read(where) {
        try {
            return JSON.parse(localStorage.getItem(where));
        } catch (error) {
            return null;
        }
    }

    function write() {
        clearTimeout(timer);
        timer = null;
        const values = shown();
        if (!differs(values, given()).length) {
            return;
        }
        try {
            localStorage.setItem(key, JSON.stringify({ user, at: Date.now(), values }));
        } catch (error) {
            // There is no room, or none is allowed: the page works as before.
        }
    }

    // Somebody else has logged in here, or nobody has asked for it for a week.
    function forgetOthers() {
        for (const where of Object.keys(localStorage).filter((one) => one.startsWith(PREFIX))) {
            const kept = read(where);
            if (kept?.user !== user || !(Date.now() - kept.at < WEEK_MS)) {
                localStorage.removeItem(where);
            }
        }
    }

    // A form that was sent from there has led here, and the page has nothing to ask or to refuse: it was saved.
    function forgetSaved() {
        const sent = sessionStorage.getItem(SENT);
        sessionStorage.removeItem(SENT);
        const from = document.referrer && new URL(document.referrer).pathname;
        const dirty = document.getElementById("pa-page").dataset.dirty === "yes";
        if (sent && from === sent && !dirty) {
            localStorage.removeItem(`${PREFIX}${sent}`);
        }
    }

    function offer() {
        const kept = read(key);
        if (!kept) {
            return;
        }
        const lost = differs(kept.values, shown());
        if (!lost.length) {
            localStorage.removeItem(key);
            return;
        }
        note.querySelector("time").textContent = new Date(kept.at).toLocaleString(document.documentElement.lang);
        note.querySelector("pre").textContent = lost.map((name) => kept.values[name]).join("\n\n");
        note.hidden = false;
        note.querySelector('[data-do="back"]').hidden = !lost.some((name) => form()?.elements[name]);
        note.addEventListener("click", (event) => {
            const wanted = event.target.dataset?.do;
            if (wanted === "back") {
                putBack(kept.values);
            } else if (wanted === "forget") {
                localStorage.removeItem(key);
            }
            if (wanted) {
                note.hidden = true;
                form()?.elements.title?.focus();
            }
        });
    }

    // With the revision that was read when it was typed: what others have written since, the server tells as ever.
    function putBack(values) {
        for (const [name, value] of Object.entries(values)) {
            const field = form()?.elements[name];
            if (field) {
                field.value = value;
            }
        }
        form().elements.body?.dispatchEvent(new Event("input", { bubbles: true }));
    }

    forgetOthers();
    forgetSaved();
    if (document.getElementById("pa-page").dataset.dirty === "no") {
        offer();
    }
    document.addEventListener("input", (event) => {
        if (form()?.contains(event.target)) {
            timer ??= setTimeout(write, PAUSE_MS);
        }
    });
    document.addEventListener("submit", (event) => {
        if (event.target === form() && !event.defaultPrevented && event.submitter?.formTarget !== "_blank") {
            write();
            sessionStorage.setItem(SENT, location.pathname);
        }
    });
    window.addEventListener("pagehide", () => timer && write());
    window.addEventListener("pageshow", (event) => event.persisted && sessionStorage.removeItem(SENT));
    write(); // What was typed before.
})();
