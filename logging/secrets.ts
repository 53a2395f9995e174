/**
 * Keeps secrets out of the log: by the name of the property, and by value wherever a configured secret turns up.
 *
 * Source: docs/batch-values.md §12.
 */

/** Replacement for a secret. */
export const REDACTED = '***';

/** Minimum length: shorter values would match ordinary words and numbers. */
const MIN_SECRET = 12;

export const SECRET_WORDS =
  /password|license|apikey|api-key|api_key|secret|salt|connectionstring|authorization|cookie/i;
/** "Pin" is matched as a word of a compound name, so that mapping and shipping are not redacted. */
export const PIN = /(?:^|[^A-Za-z])pin|Pin|PIN/;

/**
 * A function that replaces every configured secret of 12 characters or more, also where it stands URL-encoded,
 * as JSON text or in Base64. Built once; with no secrets it gives its input back.
 */
export function createScrubber(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.filter((secret) => secret.length >= MIN_SECRET).flatMap(formsOf);
  if (forms.length === 0) return (text) => text;
  // Longest first, so that a secret that contains another one is replaced as a whole.
  const longestFirst = [...new Set(forms)].sort((left, right) => right.length - left.length);
  const pattern = new RegExp(
    longestFirst.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'),
    'g',
  );
  return (text) => text.replace(pattern, REDACTED);
}

function formsOf(secret: string): string[] {
  // A lone surrogate cannot be URL-encoded; UTF-8 would replace it anyway.
  const encoded = encodeURIComponent(Buffer.from(secret, 'utf8').toString('utf8'));
  const base64 = Buffer.from(secret, 'utf8')
    .toString('base64')
    .replace(/={1,2}$/, '');
  return [secret, encoded, JSON.stringify(secret).slice(1, -1), base64];
}
