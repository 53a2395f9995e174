/** HTML templates that escape by default. */

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for use between tags and inside quoted attribute values. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** HTML that is safe to insert: the result of a template, or trusted text. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value of a template: text is escaped, HTML is inserted, lists are concatenated, undefined is empty. */
export type HtmlValue = string | number | Html | undefined | readonly HtmlValue[];

/** Builds HTML; every value that is not HTML itself is escaped. */
export function html(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let result = texts[0] ?? '';
  for (const [index, value] of values.entries()) result += render(value) + (texts[index + 1] ?? '');
  return new Html(result);
}

/** Marks trusted text as HTML. */
export function raw(text: string): Html {
  return new Html(text);
}

/** Joins values with line ends. */
export function lines(values: readonly HtmlValue[]): Html {
  return new Html(values.map(render).join('\n'));
}

function render(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  return typeof value === 'object' ? value.map(render).join('') : escapeHtml(String(value));
}
