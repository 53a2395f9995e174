/**
 * The page on which an application lets somebody place signatures: one file at a time, one person at a time.
 *
 * Source: portal-gaps §9 (`marksPositioned`) and §20, "Marks session".
 */
import { plainLine } from '../../../machines/plain-text.ts';
import { escapeHtml } from '../../html.ts';
import { portalPage, saying, type Theme } from './frame.ts';
import { filled, type PageWords } from './texts/words.ts';

export interface MarksPage {
  readonly files: readonly { readonly id: string; readonly location: string }[];
  /** The request that opened the session. */
  readonly data: unknown;
}

const SCRIPTS = [
  'marks.js',
  'dom.js',
  'mark-boxes.js',
  'page-data.js',
  'parent-window.js',
  'pdf-view.js',
  'pdf-library.js',
];

/** Name of a file and of a person of the request, as far as it says. */
interface Asked {
  readonly files?: readonly { readonly id?: string; readonly name?: string; readonly displayName?: string }[];
  readonly flowActions?: readonly Person[];
}
interface Person {
  readonly ruleName?: string | null;
  readonly user?: { readonly name?: string | null; readonly email?: string | null } | null;
}

export function marksPage(
  { files, data }: MarksPage,
  words: PageWords,
  theme: Theme | undefined,
  origins: readonly string[],
): string {
  const { marks } = words;
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
  const options = (values: readonly string[]) =>
    values.map((value, index) => `<option value="${index}">${escapeHtml(value)}</option>`).join('');
  const main = `<main id="main" class="marking">
<h1>${escapeHtml(marks.title)}</h1>
<p>${escapeHtml(marks.intro)}</p>
<p class="hint" id="keys">${escapeHtml(marks.keys)}</p>
<div class="tools" role="group" aria-label="${escapeHtml(marks.title)}">
<label>${escapeHtml(marks.files)} <select id="file">${options(names)}</select></label>
<label>${escapeHtml(marks.people)} <select id="person">${options(people)}</select></label>
<button type="button" id="add-signature">${escapeHtml(marks.addSignature)}</button>
<button type="button" id="add-initials">${escapeHtml(marks.addInitials)}</button>
<button type="button" id="finish" class="main">${escapeHtml(marks.finish)}</button>
</div>
<p id="state" role="status" aria-live="polite"></p>
<div id="pages" class="pages" tabindex="0" role="group" aria-label="${escapeHtml(marks.files)}"></div>
</main>`;
  return portalPage({
    words,
    title: marks.title,
    theme,
    kind: 'marks',
    scripts: SCRIPTS,
    data: { files, asked: data, people, embedOrigins: origins, words: marks.script },
    main,
  });
}

/** What is shown when the session does not exist any more. */
export function marksOverPage(words: PageWords, theme: Theme | undefined): string {
  const { over } = words.marks;
  return portalPage({ words, title: over.title, theme, kind: 'quiet', main: saying(over) });
}

/** The request is kept as it was sent: whatever is not a list is none. */
function listOf<Entry>(value: readonly Entry[] | undefined): readonly Entry[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'object' && entry !== null) : [];
}

function text(value: unknown): string | undefined {
  return (typeof value === 'string' && plainLine(value)) || undefined;
}
