/** Stylesheets of the operator pages: system colours, light and dark, for phones and desktops. */

export const PAGES_STYLE = `:root {
  color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif;
  --line: color-mix(in srgb, CanvasText 18%, Canvas); --quiet: color-mix(in srgb, CanvasText 68%, Canvas);
  --panel: color-mix(in srgb, CanvasText 4%, Canvas); --brand: #1b5fb4; --good: #1a7f4b; --bad: #b3261e; --wait: #8a5a00;
}
@media (prefers-color-scheme: dark) { :root { --brand: #7db4f5; --good: #6fd39b; --bad: #ff9c94; --wait: #f0c36d; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: Canvas; color: CanvasText; }
a { color: var(--brand); }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; } h2 { font-size: 1.15rem; margin: 1.5rem 0 0.5rem; }
h1, h2, h3, h4 { line-height: 1.25; overflow-wrap: anywhere; }
.skip { position: absolute; left: -100vw; } .skip:focus { left: 0.5rem; top: 0.5rem; background: Canvas; padding: 0.5rem; z-index: 3; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; padding: 0.5rem 1rem; border-bottom: 1px solid var(--line); }
.bar nav { display: flex; flex-wrap: wrap; gap: 0.25rem; flex: 1; }
.bar nav a { padding: 0.4rem 0.6rem; border-radius: 0.375rem; text-decoration: none; }
:is(.menu, .fold) summary { cursor: pointer; padding: 0.4rem 0.75rem; border: 1px solid var(--line); border-radius: 0.375rem; } .fold { margin: 0 0 1rem; } @media (min-width: 34.01rem) { .menu, .fold { display: none; } }
@media (max-width: 34rem) { .menu { margin-left: auto; } .menu:not([open]) + nav, .fold:not([open]) + .filters { display: none; } .bar nav { order: 1; flex-basis: 100%; display: grid; grid-template-columns: 1fr 1fr; } }
.bar nav a[aria-current] { background: var(--panel); font-weight: 600; }
.version { color: var(--quiet); font-size: 0.85rem; }
main { padding: 1rem; max-width: 80rem; margin: 0 auto; } main:focus { outline: none; }
button, .button, input, select, textarea { font: inherit; padding: 0.45rem 0.75rem; border: 1px solid var(--line); border-radius: 0.375rem; background: Canvas; color: CanvasText; max-width: 100%; }
button, .button { cursor: pointer; text-decoration: none; display: inline-block; }
button:hover, .button:hover { background: var(--panel); }
button:disabled { cursor: default; opacity: 0.55; }
:is(a, button, input, select, textarea, summary, pre, [tabindex]):focus-visible { outline: 3px solid #6aa5ea; outline-offset: 2px; }
.quiet { color: var(--quiet); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(11rem, 50% - 0.375rem), 1fr)); gap: 0.75rem; padding: 0; margin: 0 0 1rem; list-style: none; }
.card, .panel { border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.75rem 1rem; background: var(--panel); }
.card dt, .card .name { color: var(--quiet); font-size: 0.875rem; } .card .figure { font-size: 1.5rem; font-weight: 600; overflow-wrap: anywhere; }
.panel { margin: 0 0 1rem; overflow-wrap: anywhere; } .panel > .row { margin: 0.75rem 0 0; } .panel h2 { margin-top: 0; }
dl.facts { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: 0.25rem 1rem; margin: 0; }
dl.facts dt { color: var(--quiet); } dl.facts dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 30rem) { .card { padding: 0.5rem 0.75rem; } .card .figure { font-size: 1.2rem; } dl.facts { grid-template-columns: 1fr; gap: 0; } dl.facts dd { margin-bottom: 0.5rem; } }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.4rem 0.6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td code { overflow-wrap: break-word; } td { overflow-wrap: break-word; min-width: 4rem; max-width: 24rem; } th { color: var(--quiet); font-weight: 600; font-size: 0.875rem; white-space: nowrap; }
.chip { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 0.6rem; font-size: 0.85rem; white-space: nowrap; }
.chip.good { color: var(--good); } .chip.bad { color: var(--bad); } .chip.wait { color: var(--wait); } .chip.busy { color: var(--brand); }
.filters, .row { display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: end; margin: 0 0 1rem; }
.row { align-items: center; } .filters label { display: grid; font-size: 0.875rem; color: var(--quiet); } fieldset { border: 1px solid var(--line); border-radius: 0.375rem; padding: 0.25rem 0.75rem; display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; }
.filters :is(fieldset label, label:has(> input[type="checkbox"])) { display: inline-flex; gap: 0.3rem; align-items: center; color: CanvasText; }
legend { font-size: 0.875rem; color: var(--quiet); }
.chart { display: block; width: 100%; min-width: 34rem; } .chart rect.completed, .key.completed { fill: var(--brand); background: var(--brand); }
.chart rect.failed, .key.failed { fill: var(--bad); background: var(--bad); } .key { display: inline-block; width: 0.8rem; height: 0.8rem; }
.machine { max-width: none; } .machine rect { fill: Canvas; stroke: var(--quiet); } .machine text { fill: CanvasText; font-size: 13px; }
.machine .taken rect { stroke: var(--brand); stroke-width: 2; } .machine .current rect { fill: var(--brand); stroke: var(--brand); }
.machine .current text { fill: Canvas; font-weight: 600; } .machine .final rect { stroke-dasharray: 4 3; }
.machine .edge { fill: none; stroke: var(--line); } .machine .edge.next { stroke: var(--wait); stroke-width: 1.5; stroke-dasharray: 5 3; }
.machine .edge.taken { stroke: var(--brand); stroke-width: 2.5; } .machine marker path { fill: var(--quiet); }
progress { width: 100%; } pre { max-height: 30rem; overflow: auto; white-space: pre-wrap; } .chart line { stroke: var(--line); }
.chart text { fill: var(--quiet); font-size: 10px; }
ol.timeline { list-style: none; padding: 0 0 0 1rem; border-left: 2px solid var(--line); margin: 0; }
ol.timeline li { margin: 0 0 0.75rem; } time { white-space: nowrap; }
#toasts { position: fixed; right: 1rem; bottom: 1rem; left: 1rem; display: grid; justify-items: end; gap: 0.5rem; pointer-events: none; z-index: 2; }
.toast { background: Canvas; border: 1px solid var(--line); border-left: 5px solid var(--good); border-radius: 0.375rem; padding: 0.6rem 1rem; max-width: 30rem; box-shadow: 0 2px 10px rgb(0 0 0 / 25%); pointer-events: auto; }
.toast.bad { border-left-color: var(--bad); }
dialog { border: 1px solid var(--line); border-radius: 0.5rem; max-width: min(30rem, calc(100vw - 2rem)); width: 100%; background: Canvas; color: CanvasText; }
dialog::backdrop { background: rgb(0 0 0 / 45%); } dialog label { display: grid; gap: 0.25rem; margin: 0 0 1rem; }
.trouble { color: var(--bad); }
@media (prefers-reduced-motion: no-preference) { .toast { animation: rise 0.15s ease-out; } @keyframes rise { from { opacity: 0; transform: translateY(0.5rem); } } }
`;

export const REFERENCE_STYLE = `.reference { overflow-wrap: anywhere; display: grid; grid-template-columns: minmax(14rem, 20rem) minmax(0, 1fr); gap: 2rem; }
.reference aside { position: sticky; top: 0; max-height: 100vh; overflow: auto; align-self: start; padding: 0.5rem 0.25rem; }
.reference aside input { width: 100%; } .reference aside ul { list-style: none; padding: 0 0 0 0.5rem; margin: 0; }
.reference aside li { margin: 0.25rem 0; overflow-wrap: anywhere; font-size: 0.9rem; } .reference aside a { text-decoration: none; }
@media (max-width: 50rem) { .reference { grid-template-columns: minmax(0, 1fr); } .reference aside { position: static; max-height: 40vh; border-bottom: 1px solid var(--line); } }
article { border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.75rem 1rem; margin: 0 0 1rem; scroll-margin-top: 1rem; }
article:target { border-color: var(--brand); } article h3 { margin: 0 0 0.25rem; } article h4 { margin: 1rem 0 0.25rem; }
.method { font: 600 0.75rem ui-monospace, monospace; border-radius: 0.25rem; padding: 0.1rem 0.35rem; border: 1px solid currentColor; }
.method.get { color: var(--brand); } .method.post { color: var(--good); } .method.delete { color: var(--bad); } .method:is(.put, .patch) { color: var(--wait); }
ul.members { margin: 0; padding: 0 0 0 1rem; border-left: 2px solid var(--line); list-style: none; } ul.members li { margin: 0.25rem 0; }
.type, .rules { color: var(--quiet); font-size: 0.9rem; } .note { display: block; font-size: 0.9rem; }
.status { font-weight: 600; } .status:is(.s2, .s3) { color: var(--good); } .status:is(.s4, .s5) { color: var(--bad); }
summary { cursor: pointer; padding: 0.15rem 0; } details > p { margin: 0.25rem 0 0.5rem 1rem; }
form.try:not([hidden]) { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.35rem; border-top: 1px solid var(--line); margin-top: 1rem; } form.try button { justify-self: start; margin-top: 0.35rem; }
form.try :is(input, textarea) { width: 100%; min-width: 0; } form.try pre { max-height: 24rem; overflow: auto; background: var(--panel); padding: 0.75rem; border-radius: 0.375rem; }
`;
