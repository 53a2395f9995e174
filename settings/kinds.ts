/**
 * Types of values: a schema of zod that reads the text, with its name for the documentation and its rule for fault
 * messages.
 */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { MASK, type Reading, type ReadingContext, type Resolved } from './reading.ts';

export interface Kind<Value> {
  /** For the documentation, e.g. `whole number`. */
  readonly type: string;
  /** The rest of a sentence that begins with the key, e.g. `must be a whole number from 1 to 32`. */
  readonly rule: string;
  readonly secret: boolean;
  /** Undefined = not configured, or faulty (then the fault is recorded). A value is also recorded as resolved. */
  read(key: string, reading: Reading): Value | undefined;
  /** Formats a default for check-config, one row per key. */
  show(key: string, value: Value): readonly Resolved[];
}

/** Address of a listener. */
export interface ListenUrl {
  readonly scheme: 'http' | 'https';
  /** Host name or address, without the brackets of an IPv6 address. */
  readonly host: string;
  /** 0 = chosen by the system. */
  readonly port: number;
  readonly href: string;
}

/** A secret that the configuration references by its environment variable. */
export interface SecretVariable {
  readonly variable: string;
  readonly value: string;
}

/** A schema of zod for a value written as text. */
export type TextSchema<Value> = z.ZodType<Value, string>;

interface ScalarOptions<Value> {
  readonly type: string;
  readonly rule: string;
  readonly secret?: boolean;
  /** Reads the text. An issue without a message of its own is reported with the rule. */
  readonly schema: TextSchema<Value> | ((context: ReadingContext) => TextSchema<Value>);
  readonly format?: (value: Value) => Resolved['value'];
  /** True: an empty text means that nothing is configured. @default false */
  readonly emptyIsAbsent?: boolean;
  /** The text counts with its white space and quotation marks, of which a warning speaks. */
  readonly verbatim?: 'path' | 'secret' | 'text';
}

/** A value written as one text. */
export function scalar<Value>(options: ScalarOptions<Value>): Kind<Value> {
  const { schema, rule, secret = false } = options;
  const row = (key: string, value: Value, origin: string | null): Resolved => {
    const shown = options.format ? options.format(value) : String(value);
    return { key, value: secret && shown !== '' ? MASK : shown, origin };
  };
  return {
    type: options.type,
    rule,
    secret,
    read(key, reading) {
      const entry = reading.read(key);
      if (entry?.text === undefined || (entry.text === '' && options.emptyIsAbsent === true))
        return undefined;
      const found = typeof schema === 'function' ? schema(reading.context) : schema;
      const result = found.safeParse(entry.text, { error: () => rule });
      if (!result.success) {
        reading.fault(key, result.error.issues[0]?.message ?? rule, { entry, secret });
        return undefined;
      }
      if (secret) reading.hide(key, entry);
      if (options.verbatim !== undefined) reading.doubt(key, entry, options.verbatim);
      reading.resolved.push(row(key, result.data, entry.origin));
      return result.data;
    },
    show: (key, value) => [row(key, value, null)],
  };
}

/** A schema from a function that returns undefined for texts that break the rule. */
export function parsedBy<Value>(parse: (text: string) => Value | undefined): TextSchema<Value> {
  return z.string().transform((text, issues) => {
    const value = parse(text);
    if (value !== undefined) return value;
    issues.addIssue({ code: 'custom' });
    return z.NEVER;
  });
}

/** Any text; `meaning` describes it. Empty counts as not configured. */
export function text(meaning: string): Kind<string> {
  return scalar({
    type: meaning,
    rule: `must be a ${meaning}`,
    emptyIsAbsent: true,
    verbatim: 'text',
    schema: z.string(),
  });
}

/** A text that is never shown. An empty text is a value and differs from an absent one. */
export function secretText(): Kind<string> {
  return scalar({
    type: 'secret text',
    rule: 'must be a text',
    secret: true,
    verbatim: 'secret',
    schema: z.string(),
  });
}

/** A secret that callers send in a header, which carries no line end and loses the white space at its ends. */
export function headerSecret(): Kind<string> {
  return scalar({
    type: 'secret text',
    rule: 'must be a secret text that a header carries: without control characters, and white space at its ends',
    secret: true,
    verbatim: 'secret',
    schema: z.string().refine((secret) => secret === secret.trim() && !/\p{Cc}/u.test(secret)),
  });
}

/** A text with its own rule. */
export function pattern<Value extends string>(
  type: string,
  rule: string,
  schema: TextSchema<Value>,
): Kind<Value> {
  return scalar({ type, rule, schema });
}

/** Words separated by commas; at least one. */
export function commaList(
  entryType: string,
  rule: string,
  entry: TextSchema<string>,
): Kind<readonly string[]> {
  const words = z.string().transform((value) => value.split(',').map((word) => word.trim()));
  return scalar<readonly string[]>({
    type: `${entryType}s`,
    rule,
    schema: words.pipe(z.array(entry)),
    format: (entries) => entries.join(','),
  });
}

const withoutNul = z.string().regex(/^[^\0]*$/);

/** A path, made absolute against the content root. Empty counts as not configured. */
export function path(): Kind<string> {
  return scalar({
    type: 'path',
    rule: 'must be a path without NUL characters',
    emptyIsAbsent: true,
    verbatim: 'path',
    schema: ({ cwd }) => withoutNul.transform((value) => resolve(cwd, value)),
  });
}

/** A path of a file that the program creates: `data/` at its beginning means `Storage:Root`. */
export function dataPath(): Kind<string> {
  return scalar({
    type: 'path',
    rule: 'must be a path of a file, without NUL characters',
    emptyIsAbsent: true,
    verbatim: 'path',
    schema: ({ cwd, root }) =>
      withoutNul.regex(/[^/\\]$/).transform((value) => {
        const inside = /^(?:\.\/)?data\/(.+)$/.exec(value)?.[1];
        return inside === undefined ? resolve(cwd, value) : resolve(root, inside);
      }),
  });
}

/** A whole number, both bounds included. */
export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): Kind<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return scalar({
    type: 'whole number',
    rule: `must be a whole number ${range}`,
    schema: z
      .string()
      .trim()
      .regex(/^[-+]?\d+$/)
      .transform(Number)
      .pipe(z.int().min(least).max(most)),
    format: (value) => value,
  });
}

/** `true` or `false`, compared without case. */
export function flag(): Kind<boolean> {
  return scalar({
    type: 'true or false',
    rule: 'must be true or false',
    schema: z
      .string()
      .trim()
      .pipe(z.stringbool({ truthy: ['true'], falsy: ['false'] })),
    format: (value) => value,
  });
}

/** An enumerated value, compared without case. `refusals` are known values that this version does not accept. */
export function choice<const Word extends string>(
  words: readonly Word[],
  refusals: Readonly<Record<string, string>> = {},
): Kind<Word> {
  const rule = words.length === 1 ? `must be ${words[0]}` : `must be one of ${words.join(', ')}`;
  const known = [...words, ...Object.keys(refusals)];
  return scalar<Word>({
    type: 'word',
    rule,
    schema: z
      .string()
      .trim()
      .transform((value) => known.find((word) => word.toLowerCase() === value.toLowerCase()) ?? value)
      .superRefine((value, issues) => {
        const why = refusals[value];
        if (why !== undefined) issues.addIssue({ code: 'custom', message: `${why}; it ${rule}` });
      })
      .pipe(z.enum(words)),
  });
}

/** `http://host:port` or `https://host:port`, nothing after it. */
export function listenUrl(): Kind<ListenUrl> {
  return scalar({
    type: 'URL',
    rule: 'must be http://host:port or https://host:port, without path or user',
    schema: LISTEN_URL,
    format: (value) => value.href,
  });
}

/** Address of a listener without https. */
export function plainListenUrl(): Kind<ListenUrl> {
  return scalar({
    type: 'URL',
    rule: 'must be http://host:port, without path or user',
    schema: LISTEN_URL.refine(({ scheme }) => scheme === 'http'),
    format: (value) => value.href,
  });
}

const LISTEN_URL: TextSchema<ListenUrl> = z
  .string()
  .regex(/^https?:\/\/[^/?#@\s]+\/?$/i)
  .refine(
    (value) => !/^https?:\/\/[*+]/i.test(value),
    'must name an address; 0.0.0.0 or [::] stands for all of them',
  )
  .pipe(z.url())
  .transform((value) => {
    const url = new URL(value);
    const scheme = url.protocol === 'https:' ? 'https' : 'http';
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port);
    const shownHost = isIP(host) === 6 ? `[${host}]` : host;
    return { scheme, host, port, href: `${scheme}://${shownHost}:${port}` };
  });

const WEB_URL = z
  .string()
  .regex(/^https?:\/\/\S+$/i)
  .pipe(z.url())
  .transform((value) => new URL(value))
  .refine(({ username, password }) => username === '' && password === '');

/** True for the name of a host in a URL that is this machine. */
export function isThisMachine(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** An http or https address of an external service; user and password have keys of their own. */
export function webUrl(): Kind<string> {
  return scalar({
    type: 'URL',
    rule: 'must be an http or https URL without user and password',
    emptyIsAbsent: true,
    schema: WEB_URL.transform(({ href }) => href),
  });
}

/** Base of links, without trailing slash: paths are appended to it. */
export function linkBase(): Kind<string> {
  return scalar({
    type: 'URL',
    rule: 'must be an http or https URL without user, password, query and fragment',
    emptyIsAbsent: true,
    schema: WEB_URL.refine(({ href }) => !/[?#]/.test(href)).transform(({ href }) => {
      let length = href.length;
      while (href[length - 1] === '/') length -= 1;
      return href.slice(0, length);
    }),
  });
}

/** Scheme, host and port of an address, without trailing slash. */
export function webOrigin(): Kind<string> {
  return scalar({
    type: 'URL',
    rule: 'must be http://host or https://host, with a port where it needs one and nothing after it',
    emptyIsAbsent: true,
    schema: WEB_URL.refine(({ href, origin }) => href === `${origin}/`).transform(({ origin }) => origin),
  });
}

/** The name of an environment variable whose value is a secret; an unset variable counts as empty. */
export function variable(): Kind<SecretVariable> {
  return scalar<SecretVariable>({
    type: 'name of an environment variable',
    rule: 'must name an environment variable',
    emptyIsAbsent: true,
    schema: ({ env }) => z.string().transform((name) => ({ variable: name, value: env[name] ?? '' })),
    format: (value) => value.variable,
  });
}

/** Of a variable with a proxy. */
export const PROXY_RULE =
  'must name a variable with an http or https URL without path, such as http://proxy.example.org:3128';

export function isProxy(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && search + hash === '';
}

/** The name of an environment variable whose value is a secret; the variable must be set. */
export function secretVariable(): Kind<SecretVariable> {
  const kind = scalar<SecretVariable>({
    type: 'name of an environment variable',
    rule: 'must name an environment variable that is set',
    emptyIsAbsent: true,
    schema: ({ env }) =>
      parsedBy((name) => {
        const value = env[name];
        return value === undefined ? undefined : { variable: name, value };
      }),
    format: (value) => value.variable,
  });
  return {
    ...kind,
    read(key, reading) {
      const found = kind.read(key, reading);
      if (found !== undefined) reading.keep(found.variable, found.value);
      return found;
    },
  };
}

/** A list given entry by entry (`Key:0`, `Key:1`, …). Configured entries replace the default as a whole. */
export function list<Value>(entry: Kind<Value>): Kind<readonly Value[]> {
  return {
    type: `list of ${entry.type}`,
    rule: entry.rule.replace('must be', 'must hold entries that are each'),
    secret: entry.secret,
    read(key, reading) {
      const indexes = presentIndexes(key, reading);
      return indexes?.flatMap((index) => {
        const value = entry.read(`${key}:${index}`, reading);
        return value === undefined ? [] : [value];
      });
    },
    show(key, values) {
      if (values.length === 0) return [{ key, value: '[]', origin: null }];
      return values.flatMap((value, index) => entry.show(`${key}:${index}`, value));
    },
  };
}

/** Indexes of a configured list; empty for an explicit empty list; undefined when nothing is configured. */
export function presentIndexes(key: string, reading: Reading): readonly string[] | undefined {
  const entry = reading.read(key);
  const indexes = reading.indexes(key);
  if (entry?.text !== undefined && entry.text !== '') {
    reading.fault(key, `is a list and is given entry by entry, as ${key}:0`, { entry, secret: true });
  }
  if (indexes.length > 0) return indexes;
  if (entry?.text !== '') return undefined;
  reading.resolved.push({ key, value: '[]', origin: entry.origin });
  return indexes;
}
