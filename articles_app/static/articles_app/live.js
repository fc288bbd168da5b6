// Keeps badges and hints true: counts by itself every second, and asks the server while the tab is visible.
"use strict";
(() => {
    const root = document.getElementById("pa-live");
    if (!root) {
        return;
    }
    const QUICK_MS = 2000;
    const SLOW_MS = 10000;
    const NEAR_SECONDS = 90;
    const words = JSON.parse(root.dataset.words);
    const lost = root.querySelector("p");
    // The server's clock decides: the difference is known from the page, and better from every answer.
    let ahead = Number(root.dataset.now) - Date.now() / 1000;
    let timer = null;
    let failures = 0;

    const now = () => Date.now() / 1000 + ahead;
    const hints = () => [...document.querySelectorAll(".pa-hint[data-article]")];

    // The same words as lasting() in times.py.
    function lasting(span) {
        const seconds = Math.floor(Math.abs(span));
        const minutes = Math.floor(seconds / 60);
        const hours = Math.floor(seconds / 3600);
        const days = Math.floor(seconds / 86400);
        const values = { seconds, minutes: minutes % 60, hours: hours % 24, days };
        const said = (which) => words[which].replace(/{(\w+)}/g, (_, name) => values[name]);
        if (seconds < 60) {
            return said("seconds");
        }
        if (minutes < 60) {
            return said("minutes");
        }
        if (hours < 24) {
            return said(minutes % 60 ? "hours_and_minutes" : "hours");
        }
        if (days > 1) {
            return said("days");
        }
        return said(hours % 24 ? "day_and_hours" : "day");
    }

    function draw(hint) {
        const { at, before, after, kind } = hint.dataset;
        let text = before;
        if (at) {
            const late = now() >= Number(at);
            text = (late ? after : before).replace("{}", () => lasting(Number(at) - now()));
            hint.dataset.kind = late && kind !== "failed" ? "late" : kind;
        }
        if (hint.textContent !== text) {
            hint.textContent = text;
        }
    }

    function say(words) {
        const said = document.getElementById("pa-said");
        if (said) {
            said.textContent = words;
        }
    }

    function take(article) {
        const hint = document.querySelector(`.pa-hint[data-article="${article.id}"]`);
        if (!hint) {
            return;
        }
        const badge = document.querySelector(`[data-badge="${article.id}"]`);
        const changed = hint.dataset.status !== article.status || (badge && badge.textContent !== article.label);
        const revised = hint.dataset.revision !== String(article.revision);
        Object.assign(hint.dataset, {
            status: article.status,
            revision: article.revision,
            kind: article.kind,
            at: article.at === null ? "" : article.at,
            before: article.before,
            after: article.after,
        });
        draw(hint);
        if (changed && badge) {
            badge.className = `pa-badge pa-${article.badge}`;
            badge.textContent = article.label;
            say(`“${hint.dataset.title}”: ${article.label}. ${hint.textContent}`);
        }
        if (revised) {
            document.dispatchEvent(new CustomEvent("pa-revised", { detail: article }));
        }
    }

    async function ask() {
        const ids = hints().map((hint) => hint.dataset.article);
        if (!ids.length) {
            return;
        }
        const answer = await fetch(`${root.dataset.url}?ids=${ids.join(",")}`, { headers: { Accept: "application/json" } });
        if (answer.redirected || !answer.ok) {
            throw new Error(`answered ${answer.status}`);
        }
        const told = await answer.json();
        ahead = told.now - Date.now() / 1000;
        told.articles.forEach(take);
    }

    function pause() {
        const near = hints().some((hint) => {
            const { at, status } = hint.dataset;
            return status === "PENDING_AUDIT" || (at && Number(at) - now() < NEAR_SECONDS);
        });
        return near ? QUICK_MS : SLOW_MS;
    }

    async function round() {
        clearTimeout(timer);
        if (document.visibilityState !== "visible") {
            return;
        }
        try {
            await ask();
            failures = 0;
        } catch (error) {
            failures += 1;
        }
        // One failure may be a restart. After two, nobody should trust what the hints go on counting.
        lost.hidden = failures < 2;
        lost.textContent = lost.hidden ? "" : words.lost;
        timer = setTimeout(round, pause());
    }

    document.addEventListener("visibilitychange", round);
    setInterval(() => hints().forEach(draw), 1000);
    timer = setTimeout(round, QUICK_MS);
})();
