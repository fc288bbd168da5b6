// Drops in the calendar: fills in the page's own form, sends it, and shows what the server made of it.
"use strict";
(() => {
    const calendar = () => document.getElementById("pa-calendar");
    let carried = null; // the card
    let over = null; // the slot below it
    let sending = false;

    function leave() {
        over?.classList.remove("pa-over");
        over = null;
    }

    function slotOf(event) {
        return carried && event.target.closest?.(".pa-slot");
    }

    function startDrag(event) {
        const card = event.target.closest?.('.pa-card[draggable="true"]');
        if (!card || sending) {
            return;
        }
        carried = card;
        event.dataTransfer.effectAllowed = "move";
        event.dataTransfer.setData("text/plain", card.getAttribute("aria-label"));
        calendar().classList.add("pa-carrying");
    }

    function endDrag() {
        leave();
        carried = null;
        calendar().classList.remove("pa-carrying");
    }

    function onOver(event) {
        const slot = slotOf(event);
        if (!slot) {
            return;
        }
        event.preventDefault(); // it may be dropped here
        if (slot !== over) {
            leave();
            over = slot;
            slot.classList.add("pa-over");
        }
    }

    function onDrop(event) {
        const slot = slotOf(event);
        if (!slot) {
            return;
        }
        event.preventDefault();
        const card = carried;
        endDrag();
        const [day, time] = card.dataset.at.split("T");
        if (slot.dataset.day !== day || slot.dataset.hour !== time.slice(0, 2)) {
            send(card, `${slot.dataset.day}T${slot.dataset.hour}${time.slice(2)}`);
        }
    }

    async function send(card, at) {
        const form = document.getElementById("pa-move");
        const filled = new FormData(form);
        // A question that was asked before this drop is not answered by it.
        filled.delete("yes");
        filled.delete("at_meant");
        filled.set("article", card.dataset.article);
        filled.set("revision", card.dataset.revision);
        filled.set("at", at);
        sending = true;
        card.classList.add("pa-sent");
        try {
            const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(filled) });
            await show(answer, card.dataset.article);
        } catch (error) {
            const lost = document.getElementById("pa-lost");
            lost.textContent = lost.dataset.words;
            lost.hidden = false;
            card.classList.remove("pa-sent");
        } finally {
            sending = false;
        }
    }

    // The answer is a whole page: the calendar as it is now, and above it what was said.
    async function show(answer, article) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (answer.redirected && !page.getElementById("pa-calendar")) {
            location.assign(document.getElementById("pa-move").action); // The login has run out, and leads back here.
            return;
        }
        replace(page);
        if (answer.redirected) {
            history.pushState(null, "", answer.url);
        }
        const place =
            document.getElementById("pa-refused") ||
            document.getElementById("pa-asked") ||
            document.getElementById(`pa-article-${article}`);
        place?.focus();
    }

    function replace(page) {
        for (const id of ["pa-calendar", "messages"]) {
            const fresh = page.getElementById(id);
            if (!fresh && id === "pa-calendar") {
                throw new Error("not a calendar");
            }
            document.getElementById(id)?.replaceWith(fresh);
        }
        document.getElementById("pa-lost").hidden = true;
        document.getElementById("pa-said").textContent = document.getElementById("messages")?.textContent.trim() || "";
    }

    // Somebody else has changed one of them. A form that is open, and a card on its way, are left alone.
    async function onRevised() {
        const form = document.getElementById("pa-move");
        if (sending || carried || (form && !form.hidden)) {
            return;
        }
        const answer = await fetch(location.href);
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (answer.ok && !sending && !carried && page.getElementById("pa-calendar")) {
            const focused = document.activeElement;
            const near = focused?.id || focused?.closest(".pa-card")?.id;
            const nth = [...(document.getElementById(near)?.querySelectorAll("a") || [])].indexOf(focused);
            calendar().replaceWith(page.getElementById("pa-calendar"));
            const again = near && document.getElementById(near);
            (again?.querySelectorAll("a")[nth] || again)?.focus();
        }
    }

    document.addEventListener("dragstart", startDrag);
    document.addEventListener("dragend", endDrag);
    document.addEventListener("dragover", onOver);
    document.addEventListener("drop", onDrop);
    document.addEventListener("pa-revised", onRevised);
    window.addEventListener("popstate", () => location.reload());
    (document.getElementById("pa-refused") || document.getElementById("pa-asked"))?.focus();
})();
