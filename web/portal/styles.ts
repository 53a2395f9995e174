/** Stylesheets of the portal's pages: system colours, light and dark, for phones and desktops. */

const COLOURS = `:root {
  color-scheme: light dark; font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif;
  --line: color-mix(in srgb, CanvasText 18%, Canvas); --quiet: color-mix(in srgb, CanvasText 70%, Canvas);
  --panel: color-mix(in srgb, CanvasText 4%, Canvas); --ground: color-mix(in srgb, CanvasText 7%, Canvas);
  --brand: #1b5fb4; --on-brand: #fff; --good: #17693f; --bad: #b3261e; --ring: #3d8bf2;
  --field: color-mix(in srgb, CanvasText 55%, Canvas); --shade: 0 1px 2px rgb(0 0 0 / 8%), 0 2px 8px rgb(0 0 0 / 6%);
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
h1 { font-size: 1.45rem; } h2 { font-size: 1.2rem; } h3 { font-size: 1rem; margin-top: 1.5rem; }
p { margin: 0 0 0.75rem; }
a { color: var(--brand); }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 0.5rem; top: 0.5rem; padding: 0.5rem; background: Canvas; z-index: 5; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.hint, .from { color: var(--quiet); font-size: 0.9rem; }
.trouble, .outcome { margin: 0 0 1rem; padding: 0.6rem 0.85rem; border: 1px solid var(--line); border-left: 4px solid var(--field); border-radius: 0.375rem; background: var(--panel); }
.trouble, .outcome.bad { color: var(--bad); border-color: currentColor; background: color-mix(in srgb, var(--bad) 7%, Canvas); }
.outcome.good { color: var(--good); border-color: currentColor; background: color-mix(in srgb, var(--good) 9%, Canvas); font-weight: 600; }
.outcome.good::before { content: "\\2713\\00a0\\00a0" / ""; }
.outcome:empty { display: none; } .fault { color: var(--bad); font-weight: 600; }
.outcome.busy::before { content: ""; display: inline-block; width: 1em; height: 1em; margin-right: 0.6em; vertical-align: -0.15em; border: 2px solid var(--line); border-top-color: var(--brand); border-radius: 50%; animation: turn 0.9s linear infinite; }
@keyframes turn { to { rotate: 1turn; } }
button, .button, input, select, textarea {
  font: inherit; padding: 0.5rem 0.75rem; border: 1px solid var(--field); border-radius: 0.375rem;
  background: Canvas; color: CanvasText; max-width: 100%;
}
button, .button { cursor: pointer; text-decoration: none; display: inline-block; min-height: 2.75rem; text-align: center; }
button:hover, .button:hover { background: var(--panel); }
button:disabled, button[aria-disabled="true"] { opacity: 0.6; cursor: default; }
button.main, .button.main { background: var(--brand); color: var(--on-brand); border-color: var(--brand); font-weight: 600; }
button.main:hover, .button.main:hover { filter: brightness(1.1); }
button.bad { color: var(--bad); border-color: currentColor; font-weight: 600; }
:is(a, button, input, select, textarea, summary, [tabindex]):focus-visible { outline: 3px solid var(--ring); outline-offset: 2px; border-radius: 0.375rem; }
main:focus, .outcome:focus:not(:focus-visible), section:focus:not(:focus-visible) { outline: none; }
input:not([type="checkbox"], [type="radio"]), select { min-height: 2.75rem; } :is([type="checkbox"], [type="radio"]) { width: 1.15rem; height: 1.15rem; vertical-align: -0.2em; }
label { display: block; font-weight: 600; } label :is(input, select, textarea) { font-weight: 400; }
label.tick, .choice label { font-weight: 400; padding: 0.35rem 0; }
label.tick { margin: 0 0 0.5rem; }
form > input:not([type="checkbox"]), fieldset > input:not([type="radio"]), textarea { display: block; width: 100%; margin: 0.25rem 0 0.5rem; }
[aria-invalid="true"] { border-color: var(--bad); outline: 2px solid var(--bad); }
input.code { font-size: 1.4rem; letter-spacing: 0.25em; max-width: 12rem; }
fieldset { border: 1px solid var(--line); border-radius: 0.5rem; margin: 0 0 1rem; padding: 0.5rem 0.85rem; min-width: 0; }
legend { font-weight: 600; padding: 0 0.35rem; }
summary { cursor: pointer; padding: 0.5rem 0; }
details { margin: 0 0 0.75rem; }
.ways { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0.5rem; }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
`;

const BRANDING = `.branding { padding: 0.6rem 1rem; background: var(--header, Canvas); color: var(--on-header, CanvasText); border-bottom: 1px solid var(--line); }
.branding img { display: block; max-width: 100%; max-height: 3rem; width: auto; height: auto; }
@media print { .branding { display: none; } }
`;

const SIGNING = `.signing, .marks { background: var(--ground); }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(19rem, 26rem); gap: 1rem 1.5rem; padding: 0 1rem 1rem; max-width: 96rem; margin: 0 auto; }
.columns.without-document { grid-template-columns: minmax(0, 34rem); justify-content: center; }
.languages { grid-column: 1 / -1; display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 0 0.25rem; margin-bottom: -1rem; font-size: 0.9rem; }
.languages a { padding: 0.6rem 0.5rem; } .languages a[aria-current] { color: CanvasText; font-weight: 600; text-decoration: none; }
.heading { grid-column: 1 / -1; padding-top: 1rem; }
.attachments { grid-column: 1 / -1; }
.heading p { margin: 0 0 0.25rem; } .heading h1 { margin: 0 0 0.25rem; } .heading .trouble { margin-top: 0.75rem; }
.document { min-width: 0; }
.columns.signed { padding-top: 1rem; } .actions .languages { margin: -0.75rem 0 0.25rem; } .signed .actions { grid-column: 2; grid-row: 1; } .signed .document { grid-column: 1; grid-row: 1; } .signatures { padding-left: 1.25rem; margin: 0 0 0.75rem; } .signatures .hint { display: block; }
.actions { align-self: start; position: sticky; top: 0.5rem; max-height: calc(100vh - 1rem); overflow-y: auto; padding: 1.25rem; border: 1px solid var(--line); border-radius: 0.5rem; background: Canvas; box-shadow: var(--shade); }
.actions form > button[type="submit"] { width: 100%; }
.actions h2 { font-size: 1.3rem; }
.actions .outcome { scroll-margin: 1rem; }
.tools { position: sticky; top: 0; z-index: 3; display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; padding: 0.5rem; margin: 0 0 0.75rem; background: Canvas; border: 1px solid var(--line); border-radius: 0.5rem; box-shadow: var(--shade); }
.tools label { font-weight: 400; } .tools input { width: 4rem; } .tools .button { margin-left: auto; }
.pages { overflow-x: auto; padding-bottom: 1rem; }
.pages img { max-width: 100%; height: auto; background: #fff; }
.pages pre { white-space: pre-wrap; padding: 1rem; border: 1px solid var(--line); background: Canvas; font-family: ui-monospace, monospace; margin: 0; }
.page { position: relative; margin: 0 auto 0.75rem; background: #fff; outline: 1px solid var(--line); outline-offset: -1px; scroll-margin-top: 11rem; overflow: clip; }
.page canvas { display: block; position: absolute; inset: 0; width: 100%; height: 100%; }
.mark { position: absolute; border: 2px dashed #1b5fb4; background: rgb(27 95 180 / 12%); color: #0b2c57; font-size: 0.75rem; line-height: 1.2; overflow: hidden; pointer-events: none; z-index: 2; }
.drawing { display: block; width: 100%; aspect-ratio: 3 / 1; border: 1px solid var(--field); border-radius: 0.375rem; background: #fff; touch-action: none; cursor: crosshair; }
.preview { display: block; width: 100%; aspect-ratio: 3 / 1; object-fit: contain; border: 1px dashed var(--line); border-radius: 0.375rem; background: #fff; }
.hand { font-size: 1.5rem; line-height: 1.3; } .hand[data-hand="caveat"] { font-family: hand-caveat, cursive; } .hand[data-hand="dancing-script"] { font-family: hand-dancing-script, cursive; } .hand[data-hand="homemade-apple"] { font-family: hand-homemade-apple, cursive; }
#guide-field { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.5rem; width: 100%; } #guide-field:empty { display: none; } #guide-field :is(input:not([type="checkbox"]), select, textarea) { flex: 1 1 12rem; width: auto; margin: 0; }
.cover { position: absolute; background: #fff; pointer-events: none; z-index: 1; }
.mark[data-value] { border-style: solid; background: rgb(255 255 255 / 85%); white-space: nowrap; } .mark.initials { right: calc(12px * var(--total-scale-factor)); bottom: calc(12px * var(--total-scale-factor)); width: calc(60px * var(--total-scale-factor)); height: calc(24px * var(--total-scale-factor)); text-align: center; }
.mark { background-size: contain; background-repeat: no-repeat; background-position: center; } .mark[data-filled] span { opacity: 0; } .mark[data-current] { outline: 3px solid var(--ring); }
.guide { position: sticky; top: 4.6rem; z-index: 3; display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.5rem; padding: 0.4rem 0.5rem; margin: 0 0 0.75rem; background: Canvas; border: 1px solid var(--line); border-radius: 0.5rem; box-shadow: var(--shade); }
.guide summary { padding: 0.25rem 0; }
.guide details { width: 100%; min-width: 0; margin: 0; }
.thumbnails { list-style: none; display: flex; gap: 0.5rem; overflow-x: auto; padding: 0.5rem 0; margin: 0; }
.thumbnails button { display: grid; gap: 0.25rem; justify-items: center; padding: 0.4rem; min-width: 4rem; } .thumbnails canvas { width: 5.6rem; border: 1px solid var(--line); background: #fff; }
.thumbnails button[data-seen]::after { content: "\\2713" / ""; color: var(--good); }
.people { border-top: 1px solid var(--line); margin-top: 1.25rem; } .people :is(h2, h3) { font-size: 1rem; margin: 1rem 0 0.5rem; }
.participants { list-style: none; padding: 0; margin: 0; }
.participants li { position: relative; padding-left: 2.1rem; margin-bottom: 0.6rem; }
.participants li::before { position: absolute; left: 0; top: 0.1rem; width: 1.4rem; height: 1.4rem; border: 1.5px solid currentColor; border-radius: 50%; text-align: center; font: 700 0.8rem/1.25rem system-ui, sans-serif; color: var(--quiet); content: "" / ""; }
.participants [data-status="Completed"]::before { content: "\\2713" / ""; color: var(--good); }
.participants [data-status="Pending"]::before { content: "\\2026" / ""; color: var(--brand); }
.participants [data-status="Refused"]::before { content: "\\00d7" / ""; color: var(--bad); }
.participants .who { font-weight: 600; } .participants .what { color: var(--quiet); display: block; font-size: 0.9rem; }
.participants [data-status="Completed"] .what { color: var(--good); } .participants [data-status="Refused"] .what { color: var(--bad); }
#refusing { border-top: 1px solid var(--line); margin: 1.25rem 0 0; padding-top: 0.25rem; } #refusing + .people { margin-top: 0.5rem; }
.jump { display: none; }
@media (max-width: 34rem) { .tools { position: static; gap: 0.5rem 0.25rem; } .tools :is(button, .button) { padding-inline: 0.5rem; } .tools .button { margin-left: 0; } .page { scroll-margin-top: 7rem; } .guide { top: 0; } }
@media (max-width: 56rem) {
  .columns { display: block; padding: 0 0.75rem 5rem; }
  .heading { padding-bottom: 0.75rem; }
  .actions { position: static; max-height: none; margin-top: 1rem; padding: 1rem; } .signed .actions { margin: 0 0 1rem; }
  .jump { display: block; position: fixed; right: 0.75rem; bottom: 0.75rem; z-index: 4; box-shadow: var(--shade); }
  .embedded .heading h1 { font-size: 1.15rem; }
}
@page sheet { margin: 0; }
@media print {
  .signing { page: sheet; background: none; }
  .signing :is(.languages, .heading, .attachments, .tools, .guide, .actions, .jump, .skip, .mark, .unseen, .textLayer, .document-end) { display: none !important; }
  .signing .columns { display: block; max-width: none; padding: 0; }
  .signing .pages { overflow: visible; padding: 0; } .signing .pages img { max-height: 99vh; } .signing .pages pre { border: 0; padding: 1cm; }
  .page { width: min(100%, 99.5vh * var(--ratio)) !important; height: auto !important; aspect-ratio: var(--ratio); margin: 0 auto; outline: 0; break-inside: avoid; }
  .page + .page { break-before: page; }
}
`;

/** Styles that pdf.js requires for its text layer: transparent text in the positions of the drawn text. */
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

const NOTICES = `.quiet, .checking { background: var(--ground); }
.notice, .check { max-width: 44rem; margin: 0 auto; padding: 1.5rem; border: 1px solid var(--line); border-radius: 0.5rem; background: Canvas; box-shadow: var(--shade); }
@media (min-width: 46rem) { .notice, .check { margin: 3rem auto; padding: 2rem; } }
@media (max-width: 45.99rem) { .notice, .check { min-height: 100vh; border: 0; border-radius: 0; padding: 1.5rem 1rem; } }
:is(.notice, .signed) h1::before { display: inline-block; min-width: 1.4em; color: var(--quiet); }
:is(.state-done, .state-concluded) h1::before { content: "\\2713" / ""; color: var(--good); }
:is(.state-refused, .state-canceled, .state-expired, .state-ticket-expired, .state-deleted) h1::before { content: "\\00d7" / ""; color: var(--bad); }
:is(.state-waiting-for-turn, .state-processing) h1::before { content: "\\2026" / ""; color: var(--brand); }
.notice .ways, #afterwards .ways { margin: 0 0 1rem; }
.check form { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: end; margin: 0 0 1.5rem; }
.check form label { flex: 1 1 16rem; } .check form input { display: block; width: 100%; margin: 0.25rem 0 0; font-family: ui-monospace, monospace; }
.verdict { font-size: 1.1rem; font-weight: 600; border: 1px solid currentColor; border-left-width: 4px; border-radius: 0.375rem; padding: 0.6rem 0.85rem; }
.verdict.good { color: var(--good); background: color-mix(in srgb, var(--good) 9%, Canvas); } .verdict.bad { color: var(--bad); background: color-mix(in srgb, var(--bad) 7%, Canvas); }
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
.placed { user-select: none; -webkit-touch-callout: none; }
.placed:hover { background: rgb(27 95 180 / 28%); }
.placed .corner { position: absolute; right: 0; bottom: 0; width: 0.9rem; height: 0.9rem; background: #1b5fb4; cursor: nwse-resize; touch-action: none; }
`;

const ACCOUNT = `.account-head { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1.25rem; padding: 0.5rem 1rem; border-bottom: 1px solid var(--line); background: var(--panel); }
.account-name { display: flex; align-items: center; gap: 0.5rem; margin: 0; font-weight: 600; }
.account-name img { max-width: 10rem; max-height: 2rem; width: auto; height: auto; }
.account-head nav { display: flex; flex-wrap: wrap; gap: 0 0.25rem; flex: 1 1 auto; }
.account-head nav a { padding: 0.6rem 0.5rem; } .account-head nav a[aria-current] { color: CanvasText; font-weight: 600; text-decoration: none; border-bottom: 3px solid var(--brand); }
.account-user { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.75rem; color: var(--quiet); }
.account-main { display: block; max-width: 64rem; margin: 0 auto; padding: 1rem; }
.notice label { display: block; font-weight: 600; } .notice input[type="email"] { width: 100%; }
.notice .languages, .account-main .languages { margin: 0 0 0.5rem; }
.account-main section { border: 1px solid var(--line); border-radius: 0.5rem; padding: 1rem; margin: 0 0 1.25rem; } .account-main section > h3:first-child { margin-top: 0; } .account-main :is(section, section > form) > :last-child { margin-bottom: 0; }
.account-main > :is(h2, .rows + h2) { margin-top: 1.75rem; } .account-main details :is(input:not([type="checkbox"]), select) { display: block; margin: 0.25rem 0 0.5rem; } .sure summary { white-space: nowrap; } .account-main details.sure { margin: 0; }
@media (min-width: 75rem) { .account-head { flex-wrap: nowrap; } .account-head nav { flex-shrink: 0; } .account-head nav a { white-space: nowrap; } .account-name, .account-user span { line-height: 1.2; min-width: 4rem; } .account-name { flex: 0 1 auto; } .account-user { flex: 0 1 auto; flex-wrap: nowrap; } .account-user button { white-space: nowrap; } }
.menu { margin: 0; } :is(.menu, .fold) summary { padding: 0.6rem 0.75rem; border: 1px solid var(--field); border-radius: 0.375rem; background: Canvas; line-height: 1.4; }
@media (min-width: 48.01rem) { .menu, .fold { display: none; } }
@media (max-width: 48rem) { .account-head { padding: 0.5rem 0.75rem; gap: 0.5rem; } .account-name { flex: 1 1 6rem; } .account-user span, .menu:not([open]) + nav, .fold:not([open]) + .filters { display: none; } .account-head nav { order: 1; flex: 1 1 100%; display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); margin: 0 -0.5rem; } }
@media print { .account-head, .account-main :is(.languages, .ways, .filters, form, details, .skip) { display: none; } .account-main { max-width: none; padding: 0; } .account-main section { border: 0; padding: 0; } .participants li, .history li { break-inside: avoid; } .scroll { overflow: visible; } }
.account-main select { display: block; margin: 0.25rem 0 0.5rem; } .account-main td form { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; } .account-main td select { margin: 0; }
.account-main pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--panel); padding: 0.5rem; margin: 0 0 0.5rem; font-size: 0.85rem; }
.scroll { overflow-x: auto; margin-bottom: 1.25rem; } .scroll table { border-collapse: collapse; width: 100%; } .scroll :is(th, td) { text-align: left; vertical-align: top; padding: 0.5rem; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
img.logo { max-width: 100%; height: auto; } .filter { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: end; margin-bottom: 0.75rem; } .filter > * { min-width: 0; max-width: 100%; } .filter select { margin-bottom: 0; }
.with-actions :is(td, th):last-child { position: sticky; right: 0; background: Canvas; }
.new-key { font: 1rem/1.5 ui-monospace, monospace; user-select: all; overflow-wrap: anywhere; padding: 0.75rem; border: 2px solid var(--good); border-radius: 0.375rem; }
.scopes label { font-weight: 400; padding: 0.35rem 0; } .choices { max-height: 18rem; overflow-y: auto; } .folders { margin: 0; padding-left: 1.1rem; }
`;

const SENDER = `.editor section { margin: 0 0 2rem; }
.rows { list-style: none; padding: 0; margin: 0 0 0.75rem; }
.rows li { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; margin: 0 0 0.5rem; }
.rows li > fieldset { flex: 1 1 100%; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); gap: 0.5rem 1rem; align-items: end; } .rows li > fieldset > button { justify-self: start; } .rows label.tick { margin: 0; align-self: center; }
.rows li > input { flex: 1 1 14rem; min-width: 0; } .rows label :is(input:not([type="checkbox"]), select, textarea) { display: block; width: 100%; margin: 0.25rem 0 0; }
.editor:not(:has(section#template, details#template[open])) [data-template] { display: none; }
.rows .members { grid-column: 1 / -1; margin: 0.5rem 0; } .rows .member { flex: 1 1 100%; display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; align-items: end; } .member label { flex: 1 1 12rem; }
.drop { padding: 1rem; border: 2px dashed var(--line); border-radius: 0.5rem; } .editor .marking { max-width: none; } #places[data-empty] :is(.tools, #pages, .hint:not(#place-state)) { display: none; } #placed-list li { padding-top: 0.5rem; border-top: 1px solid var(--line); } #placed-list li > span:first-child { flex: 1 1 100%; font-weight: 600; } .editor .marking .pages { max-height: 80vh; overflow: auto; }
.filters { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: end; margin: 0 0 1rem; } .filters label { flex: 1 1 11rem; } .filters :is(input, select) { display: block; width: 100%; margin: 0.25rem 0 0; } .status { display: inline-block; padding: 0 0.6rem; border: 1px solid currentColor; border-radius: 1rem; font-size: 0.9rem; white-space: nowrap; } .status[data-status="Concluded"] { color: var(--good); } .status:is([data-status="Refused"], [data-status="Canceled"], [data-status="Expired"]) { color: var(--bad); } .status:is([data-status="Pending"], [data-status="FlowConcluded"]) { color: var(--brand); }
.history { list-style: none; padding: 0; } .history li { margin-bottom: 0.35rem; } .group-members { list-style: none; padding: 0; margin: 0.25rem 0 0.5rem; } .participants .group-members li { padding: 0; margin: 0; font-size: 0.9rem; } .participants .group-members li::before { display: none; } .history time { color: var(--quiet); } #send { min-width: 12rem; } .editor :is(#expires, #reminder-days) { display: block; margin: 0.25rem 0 0.5rem; }
`;

export const PORTAL_STYLE =
  COLOURS + BASE + BRANDING + SIGNING + TEXT_LAYER + NOTICES + MARKS + ACCOUNT + SENDER;
