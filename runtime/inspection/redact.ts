/** Removes secrets from inspected actors. */
import type { Json } from '../model/ports.ts';

/** Replacement for a secret. */
const HIDDEN = '(hidden)';

/** Names of members that hold secrets, in any actor. */
const SECRET_NAME =
  /secret|password|passphrase|token|ticket|authorization|credential|(^|[a-z])pin$|apikey|sealed|hmac/i;

/** User info and query of a URL, which may hold credentials. */
const URL_USER = /(https?:\/\/)[^\s/?#@"]{1,2048}@/gi;
const URL_QUERY = /(https?:\/\/[^\s?#"]{1,2048}\?)[^\s#"]+/gi;

/** Credentials of a header, and a secret after its name, as in `password=…` and `"token":"…"`. */
const CREDENTIALS = /\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi;
const NAMED_SECRET =
  /((?:secret|password|passphrase|token|authorization|credential|api-?key|\bpin)\w{0,20}["']?\s?[:=]\s?["']?)[^\s"',;&()]+/gi;

/** Returns a text, such as that of an error, without secrets recognised by their position or name. Pure. */
export function redactedText(text: string): string {
  return text
    .replace(URL_USER, `$1${HIDDEN}@`)
    .replace(URL_QUERY, `$1${HIDDEN}`)
    .replace(CREDENTIALS, `$1 ${HIDDEN}`)
    .replace(NAMED_SECRET, `$1${HIDDEN}`);
}

/** Copies a value without the members whose names mean a secret, or are among `more`. Pure. */
export function redacted(value: Json, more: readonly string[] = []): Json {
  if (typeof value === 'string') return redactedText(value);
  if (Array.isArray(value)) return value.map((item: Json) => redacted(item, more));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const secret = more.includes(name) || SECRET_NAME.test(name);
      return [name, secret && inner !== null && inner !== '' ? HIDDEN : redacted(inner, more)];
    }),
  );
}
