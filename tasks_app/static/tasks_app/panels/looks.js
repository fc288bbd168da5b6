// How the panels look: a sheet made in script, which a strict Content-Security-Policy allows. They take the colours of the
// page around them, light or dark; others can be set from outside with --punctual-* properties.

const CSS = `
:host { color: var(--punctual-ink, inherit); display: block; font: inherit; line-height: 1.5; }
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
.panel { overflow-wrap: anywhere; background: var(--punctual-paper, transparent); border: 1px solid var(--line); border-radius: 6px; padding: 1rem; }
.panel { --line: var(--punctual-line, color-mix(in oklab, currentColor 20%, transparent)); --accent: var(--punctual-accent, oklch(60% .17 255));
         --good: var(--punctual-good, oklch(62% .15 150)); --bad: var(--punctual-bad, oklch(60% .2 25)); }
p, ul, ol, dl { margin: 0 0 .5rem; } ul, ol { padding-left: 1.25rem; }
h3 { font-size: 1rem; margin: .75rem 0 .25rem; }
.message { align-items: baseline; display: flex; font-weight: 600; gap: .5rem; }
.dot { background: var(--line); border-radius: 50%; flex: none; height: .75rem; width: .75rem; }
[data-mood="good"] .dot { background: var(--good); } [data-mood="bad"] .dot { background: var(--bad); }
[data-mood="slow"] .dot { background: oklch(70% .15 80); }
.quiet { font-size: .8125rem; opacity: .85; }
.figures { display: grid; gap: .5rem; grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr)); }
.figures div { border: 1px solid var(--line); border-radius: 6px; padding: .375rem .625rem; }
dt { font-size: .8125rem; opacity: .85; } dd { font-size: 1.125rem; font-variant-numeric: tabular-nums; margin: 0; }
.old .figures, .old table { opacity: .6; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .5rem; text-align: left; white-space: nowrap; }
form { display: grid; gap: .75rem 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); }
form > .whole { grid-column: 1 / -1; }
label { display: block; font-weight: 600; }
input, select, textarea { background: transparent; border: 1px solid var(--line); border-radius: 6px; color: inherit; font: inherit;
                          min-height: 2.375rem; padding: .375rem .625rem; width: 100%; }
option { background: Canvas; color: CanvasText; }
button { background: transparent; border: 1px solid var(--line); border-radius: 6px; color: inherit; cursor: pointer; font: inherit;
         font-weight: 500; padding: .5rem .875rem; }
button.main { background: var(--accent); border-color: var(--accent); color: white; }
button:disabled { cursor: default; opacity: .6; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.error { color: var(--bad); font-size: .8125rem; } .error:empty { display: none; }
.told { border-left: 4px solid var(--accent); padding-left: .625rem; } .told.bad { border-color: var(--bad); }
.day { display: block; height: 4rem; overflow: visible; width: 100%; }
.day .others { fill: color-mix(in oklab, currentColor 35%, transparent); } .day .own { fill: var(--accent); }
.day .capacity { fill: none; stroke: var(--bad); stroke-dasharray: 4 4; vector-effect: non-scaling-stroke; }
`;

export function dress(root) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  root.adoptedStyleSheets = [sheet];
}

// An element with its class, text and children. Nothing that comes from outside is ever taken for HTML.
export function make(tag, { text, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}
