/** Takes secrets out of what is shown of an actor. */
import type { Json } from './ports.ts';

/** Instead of a secret. */
const HIDDEN = '(hidden)';

/** Members that hold secrets by their name, whatever the actor. */
const SECRET_NAME =
  /secret|password|passphrase|token|ticket|authorization|credential|(^|[a-z])pin$|apikey|sealed|hmac/i;

/** A copy without the values of members whose names say that they are secret, or that are among `more`. Pure. */
export function redacted(value: Json, more: readonly string[] = []): Json {
  if (Array.isArray(value)) return value.map((item: Json) => redacted(item, more));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const secret = more.includes(name) || SECRET_NAME.test(name);
      return [name, secret && inner !== null && inner !== '' ? HIDDEN : redacted(inner, more)];
    }),
  );
}
