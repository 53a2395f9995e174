/**
 * Page on which a person places signature marks for an application: one file and one participant at a time.
 *
 * Source: docs/portal-values.md §9 (`marksPositioned`) and §20.
 */

import { plainLine } from '../../../contracts/plain-text.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import { Island } from '../../components/island.tsx';
import { MarksEditor } from './marks-editor.tsx';
import { noticePage } from './notice-view.tsx';
import { portalPage, type Theme } from './page-frame.tsx';
import { filled, type PageTexts } from './texts.ts';

export interface MarksPage {
  readonly files: readonly { readonly id: string; readonly location: string }[];
  /** The request that opened the session. */
  readonly data: unknown;
  readonly branding?: PageBranding | undefined;
}

/** Names of a file and of a participant in the request, where present. */
interface Asked {
  readonly files?: readonly { readonly id?: string; readonly name?: string; readonly displayName?: string }[];
  readonly flowActions?: readonly Person[];
}
interface Person {
  readonly ruleName?: string | null;
  readonly user?: { readonly name?: string | null; readonly email?: string | null } | null;
}

export function marksPage(
  { files, data, branding }: MarksPage,
  words: PageTexts,
  theme: Theme | undefined,
  origins: readonly string[],
): string {
  const { marks } = words;
  const { title, addSignature, addInitials, finish } = marks;
  const asked = (typeof data === 'object' && data !== null ? data : {}) as Asked;
  const names = files.map(({ id }, index) => {
    const known = listOf(asked.files).find((file) => file.id === id);
    return text(known?.displayName) ?? text(known?.name) ?? `${index + 1}`;
  });
  const people = listOf(asked.flowActions).map(
    ({ user, ruleName }, index) =>
      text(user?.name) ??
      text(ruleName) ??
      text(user?.email) ??
      filled(marks.signer, { number: String(index + 1) }),
  );
  return portalPage({
    words,
    title: marks.title,
    theme,
    kind: 'marks',
    branding,
    // Usually in a frame: the page around it has a header.
    ownHeader: true,
    script: 'marks.js',
    data: { files, asked: data, people, embedOrigins: origins, words: marks.script },
    main: (
      <main id="main" class="marking">
        <h1>{marks.title}</h1>
        <p>{marks.intro}</p>
        <p class="hint" id="keys">
          {marks.keys}
        </p>
        <Island
          name="marks"
          of={MarksEditor}
          props={{
            files: names,
            people,
            texts: { title, files: marks.files, people: marks.people, addSignature, addInitials, finish },
          }}
        />
      </main>
    ),
  });
}

/** Page of an expired or unknown session. */
export function marksOverPage(words: PageTexts, theme: Theme | undefined): string {
  const { over } = words.marks;
  return noticePage({ words, theme, message: over, icon: 'clock' });
}

/** The request is stored as sent: a value other than a list counts as empty. */
function listOf<Entry>(value: readonly Entry[] | undefined): readonly Entry[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'object' && entry !== null) : [];
}

function text(value: unknown): string | undefined {
  return (typeof value === 'string' && plainLine(value)) || undefined;
}
