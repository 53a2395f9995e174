/**
 * The kinds of values a key can have. Each knows its name for the documentation, its rule for fault messages, and
 * how to read itself from the sources.
 */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { type Circumstances, MASK, type Reading, type Resolved } from './reading.ts';

export interface Kind<Value> {
  /** For the documentation, e.g. `whole number`. */
  readonly type: string;
  /** The rest of a sentence that begins with the key, e.g. `must be a whole number from 1 to 32`. */
  readonly rule: string;
  readonly secret: boolean;
  /** Undefined = not configured, or faulty (then the fault is recorded). A value is also noted as resolved. */
  read(key: string, reading: Reading): Value | undefined;
  /** A default as check-config shows it, one row a key. */
  show(key: string, value: Value): readonly Resolved[];
}

/** Where a service listens. */
export interface ListenUrl {
  readonly scheme: 'http' | 'https';
  /** Host name or address, without the brackets of an IPv6 address. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly href: string;
}

/** A secret that the configuration names by its environment variable. */
export interface SecretVariable {
  readonly variable: string;
  readonly value: string;
}

interface ScalarOptions<Value> {
  readonly type: string;
  readonly rule: string;
  readonly secret?: boolean;
  /** Undefined = breaks the rule; `{ refused }` = breaks it in a way that deserves its own words. */
  readonly parse: (
    text: string,
    circumstances: Circumstances,
  ) => Value | { readonly refused: string } | undefined;
  readonly shown?: (value: Value) => Resolved['value'];
  /** True: an empty text means that nothing is configured. @default false */
  readonly emptyIsAbsent?: boolean;
}

/** A value written as one text. */
function scalar<Value>(options: ScalarOptions<Value>): Kind<Value> {
  const secret = options.secret === true;
  const row = (key: string, value: Value, origin: string | null): Resolved => {
    const shown = options.shown ? options.shown(value) : String(value);
    return { key, value: secret && shown !== '' ? MASK : shown, origin };
  };
  return {
    type: options.type,
    rule: options.rule,
    secret,
    read(key, reading) {
      const entry = reading.take(key);
      if (entry?.text === undefined || (entry.text === '' && options.emptyIsAbsent === true))
        return undefined;
      const value = options.parse(entry.text, reading.circumstances);
      if (value === undefined) reading.fault(key, options.rule, { entry, secret });
      else if (isRefused(value)) reading.fault(key, value.refused, { entry, secret });
      else {
        if (secret) reading.hide(key, entry);
        reading.resolved.push(row(key, value, entry.origin));
        return value;
      }
      return undefined;
    },
    show: (key, value) => [row(key, value, null)],
  };
}

function isRefused(value: unknown): value is { readonly refused: string } {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

/** Any text; `meaning` says what of. Empty counts as not configured. */
export function text(meaning: string): Kind<string> {
  return scalar({
    type: meaning,
    rule: `must be a ${meaning}`,
    emptyIsAbsent: true,
    parse: (value) => value,
  });
}

/** A text never shown. Empty is a value of its own, different from absent. */
export function secretText(): Kind<string> {
  return scalar({ type: 'secret text', rule: 'must be a text', secret: true, parse: (value) => value });
}

/** A text that fits a pattern. */
export function pattern<Value extends string>(
  type: string,
  rule: string,
  parse: (value: string) => Value | undefined,
): Kind<Value> {
  return scalar({ type, rule, parse });
}

/** Several words in one text, separated by commas; at least one. */
export function commaList(
  entryType: string,
  rule: string,
  fits: (entry: string) => boolean,
): Kind<readonly string[]> {
  return scalar<readonly string[]>({
    type: `${entryType}s`,
    rule,
    parse: (value) => {
      const entries = value.split(',').map((entry) => entry.trim());
      return entries.every((entry) => entry !== '' && fits(entry)) ? entries : undefined;
    },
    shown: (entries) => entries.join(','),
  });
}

/** A path, made absolute against the content root. Empty counts as not configured. */
export function path(): Kind<string> {
  return scalar({
    type: 'path',
    rule: 'must be a path without NUL characters',
    emptyIsAbsent: true,
    parse: (value, { cwd }) => (value.includes('\0') ? undefined : resolve(cwd, value)),
  });
}

/** A path of something the program makes: what begins with `data/` is below `Storage:Root`. */
export function dataPath(): Kind<string> {
  return scalar({
    type: 'path',
    rule: 'must be a path of a file, without NUL characters',
    emptyIsAbsent: true,
    parse: (value, { cwd, root }) => {
      if (value.includes('\0') || /[/\\]$/.test(value)) return undefined;
      const inside = /^(?:\.\/)?data\/(.+)$/.exec(value)?.[1];
      return inside === undefined ? resolve(cwd, value) : resolve(root, inside);
    },
  });
}

/** A whole number, both bounds included. */
export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): Kind<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return scalar({
    type: 'whole number',
    rule: `must be a whole number ${range}`,
    parse: (value) => {
      const number = /^[-+]?\d+$/.test(value.trim()) ? Number(value) : Number.NaN;
      return number >= least && number <= most ? number : undefined;
    },
    shown: (value) => value,
  });
}

/** `true` or `false`, compared without case. */
export function flag(): Kind<boolean> {
  return scalar({
    type: 'true or false',
    rule: 'must be true or false',
    parse: (value) => ({ true: true, false: false })[value.trim().toLowerCase()],
    shown: (value) => value,
  });
}

/** One of a few words, compared without case. `refusals` are words others know and this version does not take. */
export function choice<const Word extends string>(
  words: readonly Word[],
  refusals: Readonly<Record<string, string>> = {},
): Kind<Word> {
  const rule = words.length === 1 ? `must be ${words[0]}` : `must be one of ${words.join(', ')}`;
  return scalar<Word>({
    type: 'word',
    rule,
    parse: (value) => {
      const wanted = value.trim().toLowerCase();
      const word = words.find((candidate) => candidate.toLowerCase() === wanted);
      if (word !== undefined) return word;
      const known = Object.keys(refusals).find((candidate) => candidate.toLowerCase() === wanted);
      return known === undefined ? undefined : { refused: `${refusals[known]}; it ${rule}` };
    },
  });
}

/** `http://host:port` or `https://host:port`, nothing after it. */
export function listenUrl(): Kind<ListenUrl> {
  return scalar({
    type: 'URL',
    rule: 'must be http://host:port or https://host:port, without path or user',
    parse: parseListenUrl,
    shown: (value) => value.href,
  });
}

/** Reads a listening address; undefined when it is not one. */
function parseListenUrl(value: string): ListenUrl | undefined {
  if (!/^https?:\/\/[^/?#@\s]+\/?$/i.test(value) || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port);
  const shownHost = isIP(host) === 6 ? `[${host}]` : host;
  return { scheme, host, port, href: `${scheme}://${shownHost}:${port}` };
}

/** An http or https address of somebody else; user and password have keys of their own. */
export function webUrl(): Kind<string> {
  return scalar({
    type: 'URL',
    rule: 'must be an http or https URL without user and password',
    emptyIsAbsent: true,
    parse: (value) => {
      if (!/^https?:\/\/[^\s]+$/i.test(value) || !URL.canParse(value)) return undefined;
      const url = new URL(value);
      return url.username === '' && url.password === '' ? url.href : undefined;
    },
  });
}

/** The name of an environment variable whose value is a secret; an unset variable counts as empty. */
export function variable(): Kind<SecretVariable> {
  return scalar<SecretVariable>({
    type: 'name of an environment variable',
    rule: 'must name an environment variable',
    emptyIsAbsent: true,
    parse: (name, { env }) => ({ variable: name, value: env[name] ?? '' }),
    shown: (value) => value.variable,
  });
}

/** The name of an environment variable whose value is a secret; the variable must be set. */
export function secretVariable(): Kind<SecretVariable> {
  const kind = scalar<SecretVariable>({
    type: 'name of an environment variable',
    rule: 'must name an environment variable that is set',
    emptyIsAbsent: true,
    parse: (variable, { env }) => {
      const value = env[variable];
      return value === undefined ? undefined : { variable, value };
    },
    shown: (value) => value.variable,
  });
  return {
    ...kind,
    read(key, reading) {
      const found = kind.read(key, reading);
      if (found !== undefined && found.value !== '') reading.secrets.add(found.value);
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
  const entry = reading.take(key);
  const indexes = reading.indexes(key);
  if (entry?.text !== undefined && entry.text !== '') {
    reading.fault(key, `is a list and is given entry by entry, as ${key}:0`, { entry, secret: true });
  }
  if (indexes.length > 0) return indexes;
  if (entry?.text !== '') return undefined;
  reading.resolved.push({ key, value: '[]', origin: entry.origin });
  return indexes;
}
