/** The editor of a new document: files, people, fields on the pages, message. A script fills its lists. */
import type { SignedInUser } from '../../../actors/portal/api.ts';
import { type Html, html } from '../../html.ts';
import { type AccountPage, accountPage } from '../account-frame.ts';
import type { PlacedKind, SenderTexts } from '../texts/sender-texts.ts';
import { senderTexts } from './sender-language.ts';

/** Modules that the page loads; the first is the entry. */
const SCRIPTS = [
  'editor.js',
  'dom.js',
  'page-data.js',
  'editor-model.js',
  'editor-files.js',
  'editor-people.js',
  'editor-places.js',
  'sender-requests.js',
  'mark-boxes.js',
  'pdf-view.js',
  'pdf-library.js',
];

const KINDS: readonly PlacedKind[] = [
  'Signature',
  'SignatureInitials',
  'Text',
  'Number',
  'Date',
  'Checkbox',
  'Initials',
];

export interface EditedDraft {
  readonly id: string;
  readonly document: unknown;
  /** Paths of its files, by upload id. */
  readonly locations: { readonly [uploadId: string]: string };
}

export function editorPage(page: AccountPage, user: SignedInUser, draft: EditedDraft | undefined): string {
  const texts = senderTexts(page.words.language);
  const { editor } = texts;
  const main = html`<p>${editor.intro}</p>
<noscript><p class="trouble">${editor.needsScript}</p></noscript>
<div id="editor" class="editor">
${filesPart(editor)}
${peoplePart(editor)}
${placesPart(editor)}
${messagePart(editor)}
<section id="finish" class="ways">
<button type="button" id="send" class="main">${editor.send}</button>
<button type="button" id="save-draft">${editor.saveDraft}</button>
</section>
<div id="outcome" class="outcome" role="status" aria-live="polite" tabindex="-1"></div>
</div>`;
  return accountPage(page, user, {
    title: texts.newDocument,
    main,
    scripts: SCRIPTS,
    data: {
      formToken: user.formToken,
      draft: draft === undefined ? null : { id: draft.id, document: draft.document },
      locations: draft?.locations ?? {},
      words: editor.script,
    },
  });
}

function filesPart(editor: SenderTexts['editor']): Html {
  return html`<section id="files" class="drop" aria-labelledby="files-title">
<h2 id="files-title">${editor.files}</h2>
<p class="hint">${editor.fileHint}</p>
<ul id="file-list" class="rows" role="list" aria-label="${editor.displayName}"></ul>
<label for="add-files">${editor.addFiles}</label>
<input type="file" id="add-files" multiple>
<p id="file-state" class="hint" role="status" aria-live="polite"></p>
</section>`;
}

function peoplePart(editor: SenderTexts['editor']): Html {
  const step = html`<label>${editor.order} <input name="step" type="number" min="1" max="100" value="1"></label>`;
  const tick = html`<label class="tick"><input name="electronic" type="checkbox" checked> ${editor.electronic}</label>`;
  const name = html`<label>${editor.personName} <input name="name" autocomplete="off" maxlength="200" required></label>`;
  const mail = html`<label>${editor.mail} <input name="email" type="email" autocomplete="off" maxlength="254" required></label>`;
  return html`<section id="people" aria-labelledby="people-title">
<h2 id="people-title">${editor.people}</h2>
<p class="hint">${editor.peopleHint}</p>
<ol id="people-list" class="rows" role="list"></ol>
<p class="ways"><button type="button" id="add-person">${editor.addPerson}</button>
<button type="button" id="add-group">${editor.addGroup}</button>
<button type="button" id="add-observer">${editor.addObserver}</button></p>
<template id="person-row"><fieldset><legend></legend>
${name}
${mail}
<label>${editor.role} <select name="role"><option value="Signer">${editor.signer}</option><option value="Approver">${editor.approver}</option></select></label>
${step}
${tick}
</fieldset></template>
<template id="group-row"><fieldset><legend>${editor.group}</legend>
<label>${editor.groupName} <input name="name" autocomplete="off" maxlength="200" required></label>
<label>${editor.groupNeeded} <input name="needed" type="number" min="1" max="100" value="1"></label>
<label>${editor.groupMembers} <span class="hint">${editor.groupMembersHint}</span> <textarea name="members" rows="3" maxlength="20000"></textarea></label>
${step}
${tick}
</fieldset></template>
<template id="observer-row"><fieldset><legend>${editor.observer}</legend>
${name}
${mail}
</fieldset></template>
</section>`;
}

function placesPart(editor: SenderTexts['editor']): Html {
  const buttons = KINDS.map(
    (kind) =>
      html`<button type="button" data-kind="${kind}" disabled>${editor.add}: ${editor.script.kinds[kind]}</button>\n`,
  );
  return html`<section id="places" class="marking" aria-labelledby="places-title">
<h2 id="places-title">${editor.places}</h2>
<p class="hint">${editor.placesHint}</p>
<p class="hint" id="keys">${editor.keys}</p>
<div class="tools" role="group" aria-labelledby="places-title">
<label>${editor.file} <select id="place-file"></select></label>
<label>${editor.person} <select id="place-person"></select></label>
<span id="palette" class="ways">
${buttons}</span>
</div>
<p id="place-state" class="hint" role="status" aria-live="polite"></p>
<div id="pages" class="pages" tabindex="0" role="group" aria-label="${editor.file}"></div>
<h3>${editor.placedList}</h3>
<ul id="placed-list" class="rows" role="list"></ul>
</section>`;
}

function messagePart(editor: SenderTexts['editor']): Html {
  return html`<section aria-labelledby="message-title">
<h2 id="message-title">${editor.message}</h2>
<label for="message">${editor.messageText}</label>
<p class="hint" id="message-hint">${editor.messageHint}</p>
<textarea id="message" rows="4" maxlength="4000" aria-describedby="message-hint"></textarea>
<label>${editor.expires} <input id="expires" type="date"></label>
<label>${editor.reminders} <input id="reminder-days" type="number" min="1" max="365"> ${editor.reminderDays}</label>
</section>`;
}
