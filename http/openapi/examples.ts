/** Examples of the JSON bodies of operations. Source: OpenAPI 3.1.1 §4.8.14 ("Media Type Object"), `example`. */

/** Method and path, as `GET /api/jobs/{id}` → what may be sent, and what is answered by status. */
export type OperationExamples = {
  readonly [operation: string]: {
    readonly sends?: unknown;
    readonly answers?: { readonly [status: number]: unknown };
  };
};

interface Content {
  readonly [mediaType: string]: object;
}

/** The content with the example in its JSON form; as it was where it has none, or there is no example. */
export function withExample<Given extends Content | undefined>(content: Given, example: unknown): Given {
  const json = content?.['application/json'];
  if (json === undefined || example === undefined) return content;
  return { ...content, 'application/json': { ...json, example } };
}
