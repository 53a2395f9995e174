/** The editor of a session in another application: the forms of the editor without the pages of users around them. */
import type { EditorSessionPage } from '../../../../actors/portal/api.ts';
import { html } from '../../../../contracts/texts/html.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { noticePage } from '../notice-view.tsx';
import { portalPage, type Theme } from '../page-frame.tsx';
import type { PageTexts } from '../texts.ts';
import { editorForms } from './editor-view.ts';

/** Texts, colours and frame of a page. */
export interface EditorSessionPageOptions {
  readonly words: PageTexts;
  readonly theme: Theme | undefined;
  readonly embedded: boolean;
}

export function editorSessionPage(
  { id, draftId, embedOrigins, branding }: EditorSessionPage,
  ticket: string,
  { words, theme, embedded }: EditorSessionPageOptions,
): string {
  const sender = TEXTS[words.language].senders;
  const { editor, newDocument } = sender;
  const texts = TEXTS[words.language].editorSession;
  const finish = html`<section id="finish" class="ways">
<button type="button" id="send" class="main">${editor.send}</button>
<button type="button" id="save-draft">${editor.saveDraft}</button>
<button type="button" id="close-editor">${texts.saveAndClose}</button>
</section>`;
  return portalPage({
    words,
    title: newDocument,
    theme,
    kind: embedded ? 'account embedded' : 'account',
    branding,
    script: 'session-editor.js',
    data: {
      ...{ id, draftId, ticket, embedded, texts },
      embedOrigins: embedded ? embedOrigins : [],
      words: { ...editor.script, signedOut: texts.over.text },
    },
    main: html`<main id="main" class="account-main" tabindex="-1">
<h1>${newDocument}</h1>
<p id="opening" role="status">${texts.opening}</p>
<div id="session" hidden>
${editorForms(sender, finish, false)}
</div>
</main>`,
  });
}

/** Page of a link that cannot be used any more. */
export function editorSessionOverPage({ words, theme, embedded }: EditorSessionPageOptions): string {
  const { over } = TEXTS[words.language].editorSession;
  const more = { kind: embedded ? 'quiet embedded' : 'quiet' };
  return noticePage({ words, theme, message: over, icon: 'clock', more });
}
