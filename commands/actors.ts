/**
 * `sealwright actors`: looks at the actors of a running service over its API, and lets stopped ones go on.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storageLayout } from '../actors/index.ts';
import { escapeControls } from '../logging.ts';
import { API_KEY_FILE } from '../service/key-folder.ts';
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Runtime, runtimeText } from './runtime-text.ts';
import { table } from './table.ts';
import { painter, type Terminal } from './terminal.ts';

export interface ActorsOptions {
  readonly state?: string;
  readonly stuck: boolean;
  readonly stopped: boolean;
  readonly limit: string;
  /** Where the next page begins, as the page before said. */
  readonly after?: string;
  /** Shards, pool and store instead of actors. */
  readonly runtime: boolean;
  /** Let the actor go on; with `reason`. */
  readonly restart: boolean;
  readonly reason?: string;
  readonly json: boolean;
}

interface Summary {
  readonly kind: string;
  readonly id: string;
  readonly state: string;
  readonly revision: number;
  readonly mailbox: number;
  readonly stopped: { readonly at: string; readonly error: string } | null;
  readonly trouble: { readonly do: string; readonly dueAt: string; readonly lastError: string } | null;
}

interface Address {
  readonly kind: string;
  readonly id: string;
}

interface Kind {
  readonly kind: string;
  readonly version: number;
  readonly count: number;
  readonly states: { readonly [state: string]: number };
  readonly stopped: number;
  readonly awake: number;
  readonly deepestMailbox: number;
  readonly accepted: number;
  readonly refused: number;
  readonly restarts: number;
  readonly perSecond: number;
  readonly lastError: { readonly actor: string; readonly message: string } | null;
}

interface Actor extends Summary {
  readonly version: number;
  readonly shard: number;
  readonly parent: Address | null;
  readonly children: readonly Address[];
  readonly context: unknown;
  readonly accepts: readonly string[];
  readonly timers: readonly { readonly name: string; readonly due: string }[];
  readonly effects: readonly {
    readonly key: string;
    readonly do: string;
    readonly dueAt: string;
    readonly failures: number;
    readonly lastError: string | null;
  }[];
  readonly history: readonly {
    readonly at: string;
    readonly state: string;
    readonly message: string;
    readonly cause: string;
  }[];
}

/** 0 good, 1 there is no such actor or it is not stopped, 2 usage, 3 no service answers. */
export async function actorsCommand(
  settings: Settings,
  words: { readonly kind?: string; readonly id?: string },
  options: ActorsOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  if (options.restart && (words.id === undefined || !options.reason)) {
    terminal.err('sealwright actors: --restart needs a kind, an id and --reason <text>.\n');
    return EXIT.refused;
  }
  if (options.runtime && words.kind !== undefined) {
    terminal.err('sealwright actors: --runtime is about the whole process and takes no kind.\n');
    return EXIT.refused;
  }
  let answer: Response;
  try {
    answer = await ask(settings, words, options);
  } catch (error) {
    const why = error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : '';
    terminal.err(`sealwright actors: no service answers at ${settings.batch.url.href}: ${why}\n`);
    return EXIT.unavailable;
  }
  const body: unknown = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const { title, detail } = body as { title?: string; detail?: string };
    terminal.err(`sealwright actors: ${detail ?? title ?? `HTTP status ${answer.status}`}\n`);
    return answer.status === 400 ? EXIT.refused : EXIT.failed;
  }
  if (options.json) terminal.out(`${JSON.stringify(body, null, 2)}\n`);
  else tell(body, terminal);
  return EXIT.good;
}

function ask(
  settings: Settings,
  { kind, id }: { readonly kind?: string; readonly id?: string },
  { state, stuck, stopped, limit, after, runtime, restart, reason }: ActorsOptions,
): Promise<Response> {
  const headers = { [settings.auth.apiKeyHeader]: apiKey(settings), 'content-type': 'application/json' };
  const { href } = settings.batch.url;
  const base = href.replace('//0.0.0.0', '//127.0.0.1').replace(/\/$/, '');
  if (kind !== undefined && id !== undefined) {
    const path = `${base}/api/actors/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
    if (!restart) return fetch(path, { headers });
    return fetch(`${path}/restart`, { method: 'POST', headers, body: JSON.stringify({ reason }) });
  }
  if (runtime) return fetch(`${base}/api/runtime`, { headers });
  const query = new URLSearchParams(kind === undefined ? {} : { kind, limit });
  if (state !== undefined) query.set('state', state);
  if (stuck) query.set('stuck', 'true');
  if (stopped) query.set('stopped', 'true');
  if (after !== undefined) query.set('after', after);
  return fetch(`${base}/api/actors?${query}`, { headers });
}

/** The configured key, else the one the service made for itself; empty when there is neither. */
function apiKey({ auth, storage }: Settings): string {
  if (auth.apiKey !== undefined) return auth.apiKey;
  try {
    return readFileSync(join(storageLayout(storage.root).keys, API_KEY_FILE), 'utf8').trim();
  } catch {
    return '';
  }
}

function tell(body: unknown, terminal: Terminal): void {
  const { kinds, items, next } = body as { kinds?: Kind[]; items?: Summary[]; next?: string | null };
  if (kinds !== undefined) {
    terminal.out(table(KIND_HEAD, kinds.map(kindRow)));
  } else if (items !== undefined) {
    terminal.out(table(ACTOR_HEAD, items.map(actorRow)));
    if (next) terminal.out(`There are more: --after ${next}\n`);
  } else if ('restarted' in (body as object)) {
    terminal.out('It goes on.\n');
  } else if ('shards' in (body as object)) {
    terminal.out(runtimeText(body as Runtime));
  } else tellActor(body as Actor, terminal);
}

const KIND_HEAD = [
  ...['kind', 'version', 'count', 'states', 'stopped', 'awake', 'deepest', 'accepted', 'refused'],
  ...['restarts', 'msg/s', 'last error'],
];

function kindRow(kind: Kind): readonly string[] {
  const states = Object.entries(kind.states).map(([state, count]) => `${state} ${count}`);
  const { version, count, stopped, awake, deepestMailbox, accepted, refused, restarts, lastError } = kind;
  return [
    kind.kind,
    ...[version, count].map(String),
    states.join(', '),
    ...[stopped, awake, deepestMailbox, accepted, refused, restarts].map(String),
    kind.perSecond.toFixed(1),
    lastError === null ? '' : `${lastError.actor}: ${lastError.message}`,
  ];
}

const ACTOR_HEAD = ['id', 'state', 'revision', 'mailbox', 'trouble'];

function actorRow({ id, state, revision, mailbox, stopped, trouble }: Summary): readonly string[] {
  const why = stopped
    ? `stopped ${stopped.at}: ${stopped.error}`
    : trouble && `${trouble.do} again at ${trouble.dueAt}: ${trouble.lastError}`;
  return [id, state, String(revision), String(mailbox), why ?? ''];
}

function tellActor(actor: Actor, terminal: Terminal): void {
  const { bold, red } = painter(terminal);
  const line = (name: string, text: string) => `${bold(name.padEnd(9))} ${escapeControls(text)}\n`;
  terminal.out(line('actor', `${actor.kind}/${actor.id}`));
  terminal.out(line('state', `${actor.state}, revision ${actor.revision}, version ${actor.version}`));
  terminal.out(line('lives', `on shard ${actor.shard}, ${actor.mailbox} messages in work or waiting`));
  if (actor.parent) terminal.out(line('parent', `${actor.parent.kind}/${actor.parent.id}`));
  for (const { kind, id } of actor.children) terminal.out(line('child', `${kind}/${id}`));
  if (actor.stopped) terminal.out(red(line('stopped', `${actor.stopped.at}: ${actor.stopped.error}`)));
  terminal.out(line('accepts', actor.accepts.join(', ') || 'nothing'));
  for (const { name, due } of actor.timers) terminal.out(line('deadline', `${due} ${name}`));
  for (const { key, do: what, dueAt, failures, lastError } of actor.effects) {
    const failed = failures === 0 ? '' : `, failed ${failures} times: ${lastError ?? ''}`;
    terminal.out(line('waits for', `${what} at ${dueAt} (${key}${failed})`));
  }
  for (const { at, state, message, cause } of actor.history)
    terminal.out(line('history', `${at} ${state} by ${cause}: ${message}`));
  terminal.out(`${JSON.stringify(actor.context, null, 2)}\n`);
}
