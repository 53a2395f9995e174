/**
 * Finds the placeholders `{{name}}` of a text in one pass, in linear time. Names have 1 to 200 characters without
 * braces; surrounding white space is ignored.
 */

export interface Placeholder {
  readonly name: string;
  /** Start offset, and the offset after the end. */
  readonly start: number;
  readonly end: number;
}

const MAX_NAME = 200;

export function* placeholdersIn(text: string): Generator<Placeholder> {
  let at = text.indexOf('{{');
  while (at >= 0) {
    // Of more than two braces, the last two open the placeholder.
    let from = at + 2;
    while (text[from] === '{') from += 1;
    let to = from;
    while (to < text.length && text[to] !== '{' && text[to] !== '}') to += 1;
    const isClosed = to > from && text.startsWith('}}', to);
    const name = isClosed ? text.slice(from, to).trim() : '';
    if (isClosed && name.length <= MAX_NAME) yield { name, start: from - 2, end: to + 2 };
    // No placeholder starts before this offset.
    at = text.indexOf('{{', to);
  }
}

/** Replaces each placeholder by the result of `textOf` for its name. */
export function replacePlaceholders(text: string, textOf: (name: string) => string): string {
  const parts: string[] = [];
  let from = 0;
  for (const { name, start, end } of placeholdersIn(text)) {
    parts.push(text.slice(from, start), textOf(name));
    from = end;
  }
  return from === 0 ? text : parts.join('') + text.slice(from);
}
