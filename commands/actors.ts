/**
 * `sealwright actors`: shows the actors of a running service through its API, and restarts those that were given up.
 */
import type { Actor, ActorKind, ActorPage, Runtime } from '../clients/typescript/batch.d.ts';
import { escapeControls } from '../logging.ts';
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { findService, type LocalAnswer, localHeaders, NoService, requestLocal } from './local-service.ts';
import { painter, type Terminal, table } from './terminal.ts';

export interface ActorsOptions {
  readonly state?: string;
  readonly stuck: boolean;
  readonly stopped: boolean;
  readonly limit: string;
  /** Cursor of the next page, from the previous one. */
  readonly after?: string;
  /** Shards, pool and store instead of actors. */
  readonly runtime: boolean;
  /** Restart the actor; with `reason`. */
  readonly restart: boolean;
  readonly reason?: string;
  readonly json: boolean;
}

type Summary = NonNullable<ActorPage['items']>[number];

/** Exit codes: 0 success, 1 unknown actor or one that was not given up, 2 usage, 3 no service answers. */
export async function actorsCommand(
  settings: Settings,
  words: { readonly kind?: string; readonly id?: string },
  options: ActorsOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  if (options.restart && (words.id === undefined || !options.reason)) {
    terminal.err('sealwright actors: --restart requires a kind, an id and --reason <text>.\n');
    return EXIT.refused;
  }
  if (options.runtime && words.kind !== undefined) {
    terminal.err('sealwright actors: --runtime describes the whole process; leave the kind out.\n');
    return EXIT.refused;
  }
  let answer: LocalAnswer;
  try {
    answer = await request(await findService(settings, 'batch'), settings, words, options);
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    const url = error instanceof NoService ? error.url : settings.batch.url.href;
    terminal.err(
      `sealwright actors: no service answers at ${url}: it ${why}. Start it with \`sealwright serve\`, or check Storage:Root and Batch:Url.\n`,
    );
    return EXIT.unavailable;
  }
  const body = parsed(answer.body);
  if (answer.status !== 200) {
    const { title, detail } = body as { title?: string; detail?: string };
    terminal.err(`sealwright actors: ${detail ?? title ?? `HTTP status ${answer.status}`}\n`);
    return answer.status === 400 ? EXIT.refused : EXIT.failed;
  }
  if (options.json) terminal.out(`${JSON.stringify(body, null, 2)}\n`);
  else print(body, terminal);
  return EXIT.good;
}

function request(
  url: string,
  settings: Settings,
  { kind, id }: { kind?: string; id?: string },
  { state, stuck, stopped, limit, after, runtime, restart, reason }: ActorsOptions,
): Promise<LocalAnswer> {
  const headers = { ...localHeaders(settings), 'content-type': 'application/json' };
  if (kind !== undefined && id !== undefined) {
    const path = `/api/actors/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
    if (!restart) return requestLocal(url, path, { headers });
    const body = Buffer.from(JSON.stringify({ reason }));
    return requestLocal(url, `${path}/restart`, { method: 'POST', headers, body });
  }
  if (runtime) return requestLocal(url, '/api/runtime', { headers });
  const query = new URLSearchParams(kind === undefined ? {} : { kind, limit });
  if (state !== undefined) query.set('state', state);
  if (stuck) query.set('stuck', 'true');
  if (stopped) query.set('stopped', 'true');
  if (after !== undefined) query.set('after', after);
  return requestLocal(url, `/api/actors?${query}`, { headers });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function print(body: unknown, terminal: Terminal): void {
  const { kinds, items, next } = body as ActorPage;
  if (kinds !== undefined) {
    terminal.out(table(KIND_HEAD, kinds.map(kindRow)));
  } else if (items !== undefined) {
    terminal.out(table(ACTOR_HEAD, items.map(actorRow)));
    if (next) terminal.out(`There are more: --after ${next}\n`);
  } else if ('restarted' in (body as object)) {
    terminal.out('The actor was restarted.\n');
  } else if ('shards' in (body as object)) {
    terminal.out(runtimeText(body as Runtime));
  } else printActor(body as Actor, terminal);
}

const KIND_HEAD = [
  'kind',
  'version',
  'count',
  'states',
  'given up',
  'awake',
  'deepest',
  'accepted',
  'refused',
  'restarts',
  'msg/s',
  'last error',
];

function kindRow(kind: ActorKind): readonly string[] {
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
    ? `given up ${stopped.at}: ${stopped.error}`
    : trouble && `${trouble.do} is retried at ${trouble.dueAt}: ${trouble.lastError}`;
  return [id, state, String(revision), String(mailbox), why ?? ''];
}

function printActor(actor: Actor, terminal: Terminal): void {
  const { bold, red } = painter(terminal);
  const line = (name: string, text: string) => `${bold(name.padEnd(9))} ${escapeControls(text)}\n`;
  terminal.out(line('actor', `${actor.kind}/${actor.id}`));
  terminal.out(line('state', `${actor.state}, revision ${actor.revision}, version ${actor.version}`));
  terminal.out(line('shard', `${actor.shard}; ${actor.mailbox} messages in progress or queued`));
  if (actor.parent) terminal.out(line('parent', `${actor.parent.kind}/${actor.parent.id}`));
  for (const { kind, id } of actor.children) terminal.out(line('child', `${kind}/${id}`));
  if (actor.stopped) terminal.out(red(line('given up', `${actor.stopped.at}: ${actor.stopped.error}`)));
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

/** The answer of `GET /api/runtime` as people read it. */
const SHARD_HEAD = [
  'shard',
  'thread',
  'awake',
  'deepest',
  'commit',
  'event loop late',
  'losses',
  'last loss',
];

function runtimeText({ shards, pool, store, memory, ...process }: Runtime): string {
  const facts = [
    ['up', `${Math.round(process.uptimeSeconds)} s`],
    ['event loop', `late by ${times(process.eventLoopDelay)}`],
    ['effects', `${process.effectsInFlight} in flight`],
    [
      'pool',
      `${pool.busy} of ${pool.threads} threads busy, ${pool.waiting} tasks waiting, used ${percent(pool.utilisation)}`,
    ],
    ...(pool.stalled ?? []).map(
      ({ task, subject, runningMs }) =>
        ['stalled', `${task} for ${subject}, for ${Math.round(runningMs / 1000)} s`] as const,
    ),
    ['store', `${store.engine}${store.bytes === null ? '' : `, ${mebibytes(store.bytes)}`}`],
    ['memory', `${mebibytes(memory.residentBytes)} resident, ${mebibytes(memory.heapBytes)} heap`],
  ] as const;
  const rows = shards.map((shard) => [
    String(shard.shard),
    shard.thread ?? 'being replaced',
    ...[shard.awakeActors, shard.deepestMailbox].map(String),
    ...[shard.commit, shard.eventLoopDelay].map(times),
    String(shard.losses),
    shard.lastLoss === null ? '' : `${shard.lastLoss.at} ${shard.lastLoss.actor ?? ''} ${shard.lastLoss.why}`,
  ]);
  return `${facts.map(([name, text]) => `${name.padEnd(10)} ${text}\n`).join('')}\n${table(SHARD_HEAD, rows)}`;
}

function times({ p50Ms, p99Ms, maxMs }: Runtime['eventLoopDelay']): string {
  return `${[p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1)).join('/')} ms p50/p99/most`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} % of the time`;
}
