/** The editor of a new document: files, people, fields on the pages, message. A script fills its lists. */

import type { SignedInUser } from '../../../../actors/portal/api.ts';
import { type Html, html } from '../../../../contracts/texts/html.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { type AccountPage, accountPage } from '../account-frame.ts';
import { filled, type PlacedKind, type SenderTexts } from '../texts.ts';

const KINDS: readonly PlacedKind[] = [
  'Signature',
  'SignatureInitials',
  'Text',
  'Number',
  'Date',
  'Checkbox',
  'Choice',
  'Initials',
  'Attachment',
];

/** The template in the editor; a new one has no id. */
export interface EditedTemplate {
  readonly id?: string;
  readonly name: string;
  readonly description: string;
  readonly expirationDays: number | null;
  /** Of the version that is edited; 0 = none. */
  readonly version: number;
  readonly document: unknown;
  readonly locations: { readonly [uploadId: string]: string };
}

export interface EditedDraft {
  readonly id: string;
  readonly document: unknown;
  /** Paths of its files, by upload id. */
  readonly locations: { readonly [uploadId: string]: string };
}

export function editorPage(
  page: AccountPage,
  user: SignedInUser,
  { draft, template }: { readonly draft?: EditedDraft; readonly template?: EditedTemplate },
): string {
  const texts = TEXTS[page.words.language].senders;
  const { editor } = texts;
  const finish =
    template === undefined
      ? html`<section id="finish" class="ways">
<button type="button" id="send" class="main">${editor.send}</button>
<button type="button" id="save-draft">${editor.saveDraft}</button>
</section>
<details id="template"><summary>${texts.templates.save}</summary>
${templatePart(texts, undefined)}
</details>`
      : html`<section id="template" aria-labelledby="template-title"><h2 id="template-title">${texts.templates.one}</h2>
${templatePart(texts, template)}
</section>`;
  return accountPage(page, user, {
    title: titleOf(texts, template),
    main: editorForms(texts, finish, template !== undefined),
    script: 'editor.js',
    data: {
      formToken: user.formToken,
      draft: draft === undefined ? null : { id: draft.id, document: draft.document },
      template: template?.id === undefined ? null : { id: template.id, document: template.document },
      locations: { ...draft?.locations, ...template?.locations },
      words: editor.script,
    },
  });
}

/** The forms of the editor. @param finish content below them @param isTemplate true: those of a template */
export function editorForms(texts: SenderTexts, finish: Html, isTemplate: boolean): Html {
  const { editor } = texts;
  return html`<p>${isTemplate ? texts.templates.intro : editor.intro}</p>
<noscript><p class="trouble">${editor.needsScript}</p></noscript>
<div id="editor" class="editor">
${filesPart(editor)}
${peoplePart(texts)}
${placesPart(editor)}
${messagePart(editor, isTemplate)}
<div id="outcome" class="outcome" role="status" aria-live="polite" tabindex="-1"></div>
${finish}
</div>`;
}

function titleOf({ newDocument, templates }: SenderTexts, template: EditedTemplate | undefined): string {
  if (template === undefined) return newDocument;
  return template.id === undefined ? templates.create : templates.edit;
}

/** Name and settings of the template, and the button that saves it. */
function templatePart({ templates }: SenderTexts, template: EditedTemplate | undefined): Html {
  const { name = '', description = '', expirationDays = null, version = 0 } = template ?? {};
  const label =
    version === 0 ? templates.save : filled(templates.saveVersion, { version: String(version + 1) });
  const kind = template === undefined ? '' : html` class="main"`;
  return html`<p class="hint">${templates.roleHint}</p>
<p><label>${templates.name} <input id="template-name" dir="auto" maxlength="200" value="${name}"></label></p>
<p><label>${templates.description} <textarea id="template-description" rows="2" maxlength="2000">${description}</textarea></label></p>
<p><label>${templates.expirationDays} <input id="template-days" type="number" min="1" max="3650" value="${expirationDays === null ? '' : String(expirationDays)}"></label></p>
<p class="ways"><button type="button" id="save-template"${kind}>${label}</button></p>`;
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

function peoplePart({ editor, templates }: SenderTexts): Html {
  const step = html`<label>${editor.order} <input name="step" type="number" min="0" max="100" value="1"></label>`;
  const tick = html`<label class="tick"><input name="electronic" type="checkbox" checked> ${editor.electronic}</label>`;
  const name = html`<label>${editor.personName} <input name="name" dir="auto" maxlength="200" required></label>`;
  const mail = html`<label>${editor.mail} <input name="email" type="email" maxlength="254" required></label>`;
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
<label data-template>${templates.role} <input name="title" dir="auto" maxlength="200"></label>
</fieldset></template>
<template id="group-row"><fieldset><legend>${editor.group}</legend>
<label>${editor.groupName} <input name="name" dir="auto" maxlength="200" required></label>
<label>${editor.role} <select name="role"><option value="Group">${editor.groupSigns}</option><option value="ApproverGroup">${editor.groupApproves}</option></select></label>
<label>${editor.groupNeeded} <input name="needed" type="number" min="1" max="100" value="1"></label>
${step}
<div class="members"><p class="hint">${editor.groupMembersHint}</p>
<ol class="rows" role="list" data-members aria-label="${editor.groupMembers}"></ol>
<button type="button" data-add-member>${editor.addMember}</button></div>
${tick}
<label class="tick"><input name="continues" type="checkbox"> ${editor.groupContinues}</label>
</fieldset></template>
<template id="member-row"><div role="group" class="member">
<label>${editor.personName} <input data-part="name" dir="auto" maxlength="200"></label>
<label>${editor.mail} <input data-part="email" type="email" maxlength="254"></label>
<button type="button">${editor.removeMember}</button>
</div></template>
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
  return html`<section id="places" class="marking" data-empty aria-labelledby="places-title">
<h2 id="places-title">${editor.places}</h2>
<p class="hint">${editor.placesHint}</p>
<p class="hint" id="keys">${editor.keys}</p>
<div class="tools" role="group" aria-labelledby="places-title">
<label>${editor.file} <select id="place-file"></select></label>
<label>${editor.person} <select id="place-person"></select></label>
<span id="palette" class="ways">
${buttons}</span>
</div>
<p id="no-fields" class="hint" hidden>${editor.script.noFields}</p>
<div id="pages" class="pages" tabindex="0" role="group" aria-label="${editor.file}"></div>
<p id="place-state" class="hint" role="status" aria-live="polite"></p>
<ul id="placed-list" class="rows" role="list" aria-label="${editor.placedList}"></ul>
</section>`;
}

function messagePart(editor: SenderTexts['editor'], isTemplate: boolean): Html {
  const expires = isTemplate ? '' : html`<label>${editor.expires} <input id="expires" type="date"></label>\n`;
  return html`<section aria-labelledby="message-title">
<h2 id="message-title">${editor.message}</h2>
<label for="message">${editor.messageText}</label>
<p class="hint" id="message-hint">${editor.messageHint}</p>
<textarea id="message" dir="auto" rows="4" maxlength="4000" aria-describedby="message-hint"></textarea>
${expires}<label>${editor.reminders} <input id="reminder-days" type="number" min="1" max="365"></label>
</section>`;
}
