// Keeps the buttons of an article's page true while one types, and the page itself when others change the article.
"use strict";
(() => {
    const said = JSON.parse(document.getElementById("pa-live").dataset.words);
    const TEXT = ["title", "body"];
    const TIMES = ["publish_time", "offline_time"];
    const form = () => document.getElementById("pa-form");
    let sent = false;

    // A browser writes a time that ends with ":00" without it.
    const plain = (text) => text.replaceAll("\r\n", "\n").replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d):00$/, "$1");

    // Compared with what the server sent, not with what was there when this script came: one may have typed before it did.
    const isTyped = (field) => plain(field.value) !== plain(field.defaultValue);

    // What differs from the article: as the server says of a page that it sent back filled in, and what was typed since.
    function touched(names) {
        const before = (document.getElementById("pa-page")?.dataset.touched || "").split(" ");
        const fields = names.map((name) => form()?.elements[name]).filter(Boolean);
        return fields.some((field) => before.includes(field.name) || isTyped(field));
    }

    // A page that was refused is not what the server would send again.
    function isDirty() {
        return document.getElementById("pa-page")?.dataset.dirty === "yes" || touched([...TEXT, ...TIMES]);
    }

    // Going back makes the page anew. It is still the same form: with its old token it makes no second article.
    function keepToken() {
        const creation = form()?.elements.creation;
        if (creation && history.state?.creation) {
            creation.value = history.state.creation;
        } else if (creation) {
            history.replaceState({ ...history.state, creation: creation.value }, "");
        }
    }

    // As spoken() in times.py says it, for what is typed in the form's own zone.
    function spoken(typed) {
        const found = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d)(:\d\d)?/.exec(typed || "");
        if (!found) {
            return null;
        }
        const [, year, month, day, hour, seconds] = found;
        const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
        const clock = Number(year) === new Date().getFullYear() ? said.clock : said.clock_with_year;
        const shownSeconds = seconds && seconds !== ":00" ? seconds : "";
        const zone = form().elements.zone.value;
        const parts = {
            weekday: said.weekdays[date.getUTCDay()],
            day: Number(day),
            month: said.months[Number(month) - 1],
            year: Number(year),
            time: `${hour}${shownSeconds}`,
        };
        return `${clock.replace(/{(\w+)}/g, (_, name) => parts[name])} ${zone}`;
    }

    // Now, as the form's zone would be typed: so whether a typed time has passed needs no arithmetic with zones.
    function nowTyped() {
        const options = { timeZone: form().elements.zone.value, hourCycle: "h23", dateStyle: "short", timeStyle: "medium" };
        return new Intl.DateTimeFormat("sv-SE", options).format(new Date()).replace(" ", "T");
    }

    function drawButtons() {
        const time = form()?.elements.publish_time;
        if (!form() || !time) {
            return;
        }
        const words = spoken(time.value) || said.time_above;
        const passed = time.value !== "" && time.value.padEnd(19, ":00") <= nowTyped();
        for (const button of form().querySelectorAll("button[data-text]")) {
            const { text, past, ifText, ifTime, onlyWithText } = button.dataset;
            let says = passed && past ? past : text;
            if (ifText && touched(TEXT)) {
                says = ifText;
            } else if (ifTime && touched(TIMES)) {
                says = ifTime;
            }
            says = says.replace("{time}", () => words);
            if (button.textContent !== says) {
                button.textContent = says;
            }
            button.hidden = onlyWithText === "yes" && !touched(TEXT);
        }
    }

    // Others changed the article. Nothing typed: show it as it is now. Something typed: leave it alone and say so.
    async function onRevised(event) {
        if (sent) {
            return;
        }
        if (isDirty()) {
            const note = document.getElementById("pa-meanwhile");
            note.textContent = said.meanwhile.replace("{label}", () => event.detail.label);
            note.hidden = false;
            return;
        }
        const answer = await fetch(location.href);
        if (!answer.ok || answer.redirected || isDirty() || sent) {
            return;
        }
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("pa-page");
        if (fresh) {
            const focused = document.activeElement?.id;
            document.getElementById("pa-page").replaceWith(fresh);
            document.getElementById(focused)?.focus();
        }
    }

    document.addEventListener("input", drawButtons);
    document.addEventListener("submit", (event) => {
        if (event.submitter?.classList.contains("pa-unseen")) {
            event.preventDefault(); // The Enter key: Chromium passes over a first button that is disabled.
            return;
        }
        if (event.submitter?.formTarget === "_blank") {
            return; // A preview changes nothing, and the form stays here.
        }
        // A second click must not create a second article.
        if (sent) {
            event.preventDefault();
        }
        sent = true;
    });
    window.addEventListener("pageshow", () => {
        sent = false;
    });
    document.addEventListener("pa-revised", onRevised);
    keepToken();
    (document.getElementById("pa-refused") || document.getElementById("pa-asked"))?.focus();
    drawButtons();
})();
