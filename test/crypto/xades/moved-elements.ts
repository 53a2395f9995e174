/**
 * Generates signature wrapping attacks from a valid document: every signed element is moved to every other position,
 * with a substitute or nothing in its old position. The documents must have neither comments nor CDATA sections.
 */

/** A signed element to be moved, as written in the document. */
export interface SignedElement {
  /** Text of the element, from `<` to `>`. */
  readonly text: string;
  /** Element that readers of the forged file would process instead. */
  readonly substitute: string;
}

/** One forged document. */
export interface ForgedDocument {
  readonly text: string;
  /** Description for messages: the new position, the wrapper, and the content of the old position. */
  readonly description: string;
  /** Names of the moved element's ancestors, the root first; the wrapper included. */
  readonly around: readonly string[];
  /** True when the old position is empty. */
  readonly vacated: boolean;
  /** True when the moved element has the same parent as before. */
  readonly sameParent: boolean;
}

/** Wrappers of the moved element. */
const WRAPPERS: readonly string[] = ['', 'wrapper', 'ds:Object', 'ds:Signature', 'ds:SignatureProperties'];

interface Place {
  readonly offset: number;
  readonly around: readonly string[];
  /** Offset of the parent's start tag; -1 for the document. */
  readonly parent: number;
}

const DS = 'xmlns:ds="http://www.w3.org/2000/09/xmldsig#"';

/** Yields every forged document; the element must occur once. */
export function* movedElements(
  document: string,
  { text, substitute }: SignedElement,
): Generator<ForgedDocument> {
  const start = document.indexOf(text);
  if (start < 0 || document.indexOf(text, start + 1) >= 0) throw new Error('the element has to occur once');
  const places = placesIn(document);
  const parent = places.find(({ offset }) => offset === start)?.parent;
  const withoutId = substitute.replace(/ Id="[^"]*"/, '');
  const withOtherId = substitute.replace(/ Id="([^"]*)"/, ' Id="$1-other"');
  const left = new Map([
    ['nothing', ''],
    ['another with the same Id', substitute],
    ['another without an Id', withoutId],
    ['another with another Id', withOtherId],
  ]);
  for (const place of places) {
    if (place.offset >= start && place.offset <= start + text.length) continue;
    for (const wrapper of WRAPPERS) {
      const moved = wrapper === '' ? text : `<${wrapper} ${DS}>${text}</${wrapper}>`;
      for (const [what, content] of left) {
        yield {
          text: replaceBoth(document, [
            { from: place.offset, to: place.offset, content: moved },
            { from: start, to: start + text.length, content },
          ]),
          description: `in /${place.around.join('/')}, wrapped in <${wrapper}>, leaving ${what}`,
          around: wrapper === '' ? place.around : [...place.around, wrapper],
          vacated: content === '',
          sameParent: wrapper === '' && place.parent === parent,
        };
      }
    }
  }
  yield* wrappedRoots(document, text, start, left);
}

/** Yields the whole document inside a new root, with a sibling. */
function* wrappedRoots(
  document: string,
  text: string,
  start: number,
  left: ReadonlyMap<string, string>,
): Generator<ForgedDocument> {
  const around = placesIn(document).find(({ offset }) => offset === start)?.around ?? [];
  for (const [what, content] of left) {
    const name = /^<([^\s/>]+)/.exec(text)?.[1];
    yield {
      text: `<root ${DS}>${content}${document}</root>`,
      description: `<${name}> with its document in a new root, beside ${what}`,
      around: ['root', ...around],
      vacated: content === '',
      sameParent: true,
    };
  }
}

/** Lists every position between two tags below the root. */
function placesIn(document: string): Place[] {
  const places: Place[] = [];
  const open: { name: string; at: number }[] = [];
  const addAt = (offset: number): void => {
    if (open.length === 0) return;
    const parent = open.at(-1)?.at ?? -1;
    if (places.at(-1)?.offset !== offset)
      places.push({ offset, around: open.map(({ name }) => name), parent });
  };
  for (const { 0: tag, 1: slash, 2: name = '', index } of document.matchAll(/<(\/?)([^\s/>?!]+)[^>]*>/g)) {
    addAt(index);
    if (slash === '/') open.pop();
    else if (!tag.endsWith('/>')) open.push({ name, at: index });
    addAt(index + tag.length);
  }
  return places;
}

function replaceBoth(
  text: string,
  changes: readonly { readonly from: number; readonly to: number; readonly content: string }[],
): string {
  let result = text;
  for (const { from, to, content } of changes.toSorted((one, other) => other.from - one.from)) {
    result = result.slice(0, from) + content + result.slice(to);
  }
  return result;
}
