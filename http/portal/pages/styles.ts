/** How the portal's pages look: in the colours of the system, light or dark, on a phone as on a desk. */

const COLOURS = `:root {
  color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif;
  --line: color-mix(in srgb, CanvasText 22%, Canvas); --quiet: color-mix(in srgb, CanvasText 70%, Canvas);
  --panel: color-mix(in srgb, CanvasText 4%, Canvas); --brand: #1b5fb4; --on-brand: #fff; --good: #17693f; --bad: #b3261e;
  --field: color-mix(in srgb, CanvasText 55%, Canvas);
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; --brand: #8fbff7; --on-brand: #06182e; --good: #7ddaa6; --bad: #ffa79f; }
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) { --brand: #8fbff7; --on-brand: #06182e; --good: #7ddaa6; --bad: #ffa79f; }
}
`;

const BASE = `* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: Canvas; color: CanvasText; overflow-wrap: anywhere; }
h1, h2, h3 { line-height: 1.25; margin: 0 0 0.5rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.2rem; } h3 { font-size: 1rem; margin-top: 1.5rem; }
p { margin: 0 0 0.75rem; }
a { color: var(--brand); }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 0.5rem; top: 0.5rem; padding: 0.5rem; background: Canvas; z-index: 5; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.hint, .from { color: var(--quiet); font-size: 0.9rem; }
.trouble, .outcome.bad { color: var(--bad); border-left: 4px solid currentColor; padding: 0.5rem 0.75rem; background: var(--panel); }
.outcome:empty { display: none; }
.outcome { margin: 0 0 1rem; padding: 0.5rem 0.75rem; border-left: 4px solid var(--line); background: var(--panel); }
.outcome.good { color: var(--good); border-left-color: currentColor; font-weight: 600; }
button, .button, input, select, textarea {
  font: inherit; padding: 0.5rem 0.75rem; border: 1px solid var(--field); border-radius: 0.375rem;
  background: Canvas; color: CanvasText; max-width: 100%;
}
button, .button { cursor: pointer; text-decoration: none; display: inline-block; min-height: 2.75rem; }
button:hover, .button:hover { background: var(--panel); }
button:disabled, button[aria-disabled="true"] { opacity: 0.6; cursor: default; }
button.main, .button.main { background: var(--brand); color: var(--on-brand); border-color: var(--brand); font-weight: 600; }
button.main:hover, .button.main:hover { filter: brightness(1.1); }
button.bad { color: var(--bad); border-color: currentColor; font-weight: 600; }
:is(a, button, input, select, textarea, summary, [tabindex]):focus-visible { outline: 3px solid #3d8bf2; outline-offset: 2px; }
main:focus, .outcome:focus:not(:focus-visible), section:focus:not(:focus-visible) { outline: none; }
label { display: block; font-weight: 600; }
label.tick, .choice label { font-weight: 400; padding: 0.35rem 0; }
label.tick { margin: 0 0 0.5rem; }
form > input:not([type="checkbox"]), textarea { display: block; width: 100%; margin: 0.25rem 0 0.5rem; }
[aria-invalid="true"] { border-color: var(--bad); outline: 2px solid var(--bad); }
input.code { font-size: 1.4rem; letter-spacing: 0.25em; max-width: 12rem; }
fieldset { border: 1px solid var(--line); border-radius: 0.5rem; margin: 0 0 1rem; padding: 0.5rem 0.75rem; }
summary { cursor: pointer; padding: 0.5rem 0; }
details { margin: 0 0 0.75rem; }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
`;

const SIGNING = `.columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(18rem, 26rem); gap: 0 1.5rem; padding: 1rem; max-width: 96rem; margin: 0 auto; }
.columns.without-document { grid-template-columns: minmax(0, 34rem); justify-content: center; }
.heading { grid-column: 1 / -1; }
.document { min-width: 0; }
.actions { align-self: start; position: sticky; top: 0.5rem; max-height: calc(100vh - 1rem); overflow-y: auto; padding: 1rem; border: 1px solid var(--line); border-radius: 0.5rem; background: Canvas; }
.tools { position: sticky; top: 0; z-index: 3; display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; padding: 0.5rem 0; background: Canvas; }
.tools label { font-weight: 400; } .tools input { width: 4rem; } .tools .button { margin-left: auto; }
.pages { overflow-x: auto; padding-bottom: 1rem; }
.pages img { max-width: 100%; height: auto; background: #fff; }
.pages pre { white-space: pre-wrap; padding: 1rem; border: 1px solid var(--line); background: var(--panel); font-family: ui-monospace, monospace; margin: 0; }
.page { position: relative; margin: 0 auto 0.75rem; background: #fff; outline: 1px solid var(--line); outline-offset: -1px; scroll-margin-top: 5rem; overflow: clip; }
.page canvas { display: block; position: absolute; inset: 0; width: 100%; height: 100%; }
.mark { position: absolute; border: 2px dashed #1b5fb4; background: rgb(27 95 180 / 12%); color: #0b2c57; font-size: 0.75rem; line-height: 1.2; overflow: hidden; pointer-events: none; z-index: 2; }
.drawing { display: block; width: 100%; aspect-ratio: 3 / 1; border: 1px solid var(--field); border-radius: 0.375rem; background: #fff; touch-action: none; cursor: crosshair; }
.participants { padding-left: 1.25rem; margin: 0; } .participants li { margin-bottom: 0.35rem; }
.participants .who { font-weight: 600; } .participants .what { color: var(--quiet); display: block; font-size: 0.9rem; }
.jump { display: none; }
@media (max-width: 56rem) {
  .columns { display: block; padding: 0.75rem 0.75rem 5rem; }
  .actions { position: static; max-height: none; margin-top: 1rem; }
  .jump { display: block; position: fixed; right: 0.75rem; bottom: 0.75rem; z-index: 4; }
  .embedded .heading h1 { font-size: 1.15rem; }
}
`;

/** What pdf.js expects of whoever shows its text layer: invisible text in the places of the drawn one. */
const TEXT_LAYER = `.textLayer {
  position: absolute; inset: 0; overflow: clip; line-height: 1; text-align: initial; transform-origin: 0 0; z-index: 1;
  --min-font-size: 1; --text-scale-factor: calc(var(--total-scale-factor) * var(--min-font-size));
  --min-font-size-inv: calc(1 / var(--min-font-size)); --scale-round-x: 1px; --scale-round-y: 1px;
  forced-color-adjust: none; -webkit-text-size-adjust: none; text-size-adjust: none;
}
.textLayer[data-main-rotation="90"] { transform: rotate(90deg) translateY(-100%); }
.textLayer[data-main-rotation="180"] { transform: rotate(180deg) translate(-100%, -100%); }
.textLayer[data-main-rotation="270"] { transform: rotate(270deg) translateX(-100%); }
.textLayer :is(span, br) { color: transparent; position: absolute; white-space: pre; cursor: text; transform-origin: 0 0; }
.textLayer > :not(.markedContent), .textLayer .markedContent span:not(.markedContent) {
  --font-height: 0; --scale-x: 1; --rotate: 0deg;
  font-size: calc(var(--text-scale-factor) * var(--font-height));
  transform: rotate(var(--rotate)) scaleX(var(--scale-x)) scale(var(--min-font-size-inv));
}
.textLayer .markedContent { display: contents; }
.textLayer ::selection { background: rgb(27 95 180 / 30%); color: transparent; }
.hiddenCanvasElement { position: absolute; top: 0; left: 0; width: 0; height: 0; display: none; }
`;

const NOTICES = `.notice, .check { max-width: 44rem; margin: 0 auto; padding: 2rem 1rem; }
.notice .participants { margin-bottom: 1rem; } .notice h2 { margin-top: 1.5rem; font-size: 1rem; }
.check form { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: end; margin: 0 0 1.5rem; }
.check form label { flex: 1 1 16rem; } .check form input { display: block; width: 100%; margin: 0.25rem 0 0; font-family: ui-monospace, monospace; }
.verdict { font-size: 1.1rem; font-weight: 600; border-left: 4px solid currentColor; padding: 0.5rem 0.75rem; background: var(--panel); }
.verdict.good { color: var(--good); } .verdict.bad { color: var(--bad); }
.signature { border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.75rem 1rem; margin: 0 0 1rem; }
.signature h3 { margin-top: 0; } .signature .good { color: var(--good); } .signature .bad { color: var(--bad); }
dl.facts { display: grid; grid-template-columns: minmax(8rem, max-content) minmax(0, 1fr); gap: 0.25rem 1rem; margin: 0 0 0.75rem; }
dl.facts dt { color: var(--quiet); } dl.facts dd { margin: 0; }
dl.facts code, .signature code { overflow-wrap: anywhere; font-size: 0.9em; }
@media (max-width: 34rem) { dl.facts { grid-template-columns: minmax(0, 1fr); gap: 0; } dl.facts dd { margin-bottom: 0.5rem; } }
.checks { padding-left: 1.25rem; margin: 0 0 0.5rem; } .checks .detail { color: var(--quiet); font-size: 0.9rem; }
@media print { .check form { display: none; } .signature { break-inside: avoid; } }
`;

const MARKS = `.marking { padding: 1rem; max-width: 80rem; margin: 0 auto; }
.marking .tools select { max-width: 16rem; }
.marking .page { overflow: visible; }
.placed { position: absolute; z-index: 2; border: 2px solid #1b5fb4; background: rgb(27 95 180 / 18%); color: #0b2c57; cursor: move; touch-action: none; padding: 0; min-height: 0; border-radius: 0.2rem; font-size: 0.75rem; line-height: 1.1; overflow: hidden; text-align: left; }
.placed:hover { background: rgb(27 95 180 / 28%); }
.placed .corner { position: absolute; right: 0; bottom: 0; width: 0.9rem; height: 0.9rem; background: #1b5fb4; cursor: nwse-resize; touch-action: none; }
`;

export const PORTAL_STYLE = COLOURS + BASE + SIGNING + TEXT_LAYER + NOTICES + MARKS;
