/** Examples of the JSON bodies of operations. Source: OpenAPI 3.1.1 §4.8.14 ("Media Type Object"), `example`. */

import { exampleOf } from './example-values.ts';
import type { Schema } from './schemas.ts';

type Mutable = { [keyword: string]: unknown };

/** Gives each JSON body of a success without an example one that is composed of its properties. */
export function withComposedExamples(
  responses: { readonly [status: string]: object },
  components: { readonly [name: string]: object },
): void {
  for (const [status, response] of Object.entries(responses)) {
    const { content } = response as { readonly content?: { readonly [mediaType: string]: Mutable } };
    const json = content?.['application/json'];
    if (json === undefined || json['example'] !== undefined || Number(status) >= 400) continue;
    json['example'] = exampleOf(json['schema'] as Schema, components);
  }
}

interface Content {
  readonly [mediaType: string]: object;
}

/** The content with the example in JSON form; unchanged where it has one already or there is none. */
export function withExample<Given extends Content | undefined>(content: Given, example: unknown): Given {
  const json = content?.['application/json'];
  if (json === undefined || example === undefined) return content;
  return { ...content, 'application/json': { ...json, example } };
}
