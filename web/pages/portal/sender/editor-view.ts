/** The editor of a document or a template. Its script draws everything: files, people, fields on the pages, review. */

import type { SignedInUser } from '../../../../actors/portal/api.ts';
import { type Html, html } from '../../../../contracts/texts/html.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { type AccountPage, personOf } from '../account-frame.ts';
import { portalPage } from '../page-frame.tsx';
import type { SenderTexts } from '../texts.ts';

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
  { words, theme }: AccountPage,
  user: SignedInUser,
  { draft, template }: { draft?: EditedDraft; template?: EditedTemplate },
): string {
  const texts = TEXTS[words.language].senders;
  const title = titleOf(texts, template);
  return portalPage({
    words,
    title: `${title} - ${user.tenant.organization.name}`,
    theme,
    kind: 'editing',
    branding: user.branding,
    ownHeader: true,
    namesOrigin: true,
    script: 'editor.js',
    data: {
      formToken: user.formToken,
      userId: personOf(user),
      draft: draft === undefined ? null : { id: draft.id, document: draft.document },
      template: template?.id === undefined ? null : { id: template.id, document: template.document },
      isTemplate: template !== undefined,
      templateVersion: template?.version ?? 0,
      locations: { ...draft?.locations, ...template?.locations },
      title,
      ...editorTexts(texts),
      templateSettings: {
        name: template?.name ?? '',
        description: template?.description ?? '',
        days: template?.expirationDays ?? 0,
      },
    },
    main: editorPlace(html`<main id="main" tabindex="-1"><h1>${title}</h1></main>`, texts),
  });
}

/** Texts of the script, as it reads them. */
export function editorTexts({ editor, templates }: SenderTexts) {
  const { script, ...texts } = editor;
  return { texts, words: script, templateTexts: templates };
}

/** Place in which the script draws the editor. @param before content until then */
export function editorPlace(before: Html, { editor }: SenderTexts): Html {
  return html`<noscript><p class="trouble">${editor.needsScript}</p></noscript>
<div id="editor" class="editor">
${before}
</div>`;
}

function titleOf({ newDocument, templates }: SenderTexts, template: EditedTemplate | undefined): string {
  if (template === undefined) return newDocument;
  return template.id === undefined ? templates.create : templates.edit;
}
