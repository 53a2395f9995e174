/** The editor of a session in another application: the forms of the editor without the pages of users around them. */
import type { EditorSessionPage } from '../../../../actors/portal/api.ts';
import { html } from '../../../../contracts/texts/html.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { noticePage } from '../notice-view.tsx';
import { logoImage, portalPage, type Theme } from '../page-frame.tsx';
import type { PageTexts } from '../texts.ts';
import { editorPlace, editorTexts } from './editor-view.ts';

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
  const texts = TEXTS[words.language].editorSession;
  const inEditor = editorTexts(sender);
  return portalPage({
    words,
    title: sender.newDocument,
    theme,
    kind: embedded ? 'editing embedded' : 'editing',
    branding,
    ownHeader: true,
    script: 'session-editor.js',
    data: {
      id,
      draftId,
      ticket,
      embedded,
      texts,
      embedOrigins: embedded ? embedOrigins : [],
      words: { ...inEditor.words, signedOut: texts.over.text },
      editor: {
        ...inEditor,
        title: sender.newDocument,
        // In another application it stands around the editor.
        ...(!embedded && branding !== undefined && { logo: logoImage(branding) }),
      },
    },
    main: editorPlace(
      html`<main id="main" class="account-main" tabindex="-1">
<h1>${sender.newDocument}</h1>
<p id="opening" role="status">${texts.opening}</p>
</main>`,
      sender,
    ),
  });
}

/** Page of a link that cannot be used any more. */
export function editorSessionOverPage({ words, theme, embedded }: EditorSessionPageOptions): string {
  const { over } = TEXTS[words.language].editorSession;
  const more = { kind: embedded ? 'quiet embedded' : 'quiet' };
  return noticePage({ words, theme, message: over, icon: 'clock', more });
}
