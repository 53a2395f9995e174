/** The history of a service as its operators verify it: by the command line, by doctor, and by copies kept elsewhere. */
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { JournalLine, StoredActor } from '@sealwright/runtime';
import { createCheckpointSigner, type HistoryProof, isProven, lineHash } from '@sealwright/runtime/history';
import test, { type ExecutionContext } from 'ava';
import { rowsOfActor } from '../../actors/index.ts';
import { type VerifyHistoryWords, verifyHistoryCommand } from '../../commands/verify-history.ts';
import { loadSettings } from '../../settings.ts';
import { ask, logIn } from '../http/ask.ts';
import { startAuthority } from '../pki/authority.ts';
import { reached } from '../project/waiting.ts';
import { openPlainTables, type Tables } from '../runtime/store/plain-tables.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { freePort } from './free-port.ts';
import { freshFolder, run, start } from './program.ts';

async function byProgram(root: string, ...words: string[]) {
  const { code, out, err } = await run(freshFolder(), ['verify-history', `--Storage:Root=${root}`, ...words]);
  return `${code} ${out}${err}`;
}

/** The same in this process: a start of the program costs more than the verification. The store is closed here. */
async function verified(root: string, { copies = [], files = false }: Partial<VerifyHistoryWords> = {}) {
  const loaded = loadSettings({
    argv: [`--Storage:Root=${root}`],
    env: {},
    cwd: freshFolder(),
    readFile: () => undefined,
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded));
  let said = '';
  const say = (text: string) => {
    said += text;
  };
  const code = await verifyHistoryCommand(
    loaded.settings,
    { copies, files, json: false },
    { out: say, err: say },
  );
  return `${code} ${said}`;
}

/** Changes a closed store by hand. */
async function edit<Result>(root: string, change: (tables: Tables) => Result): Promise<Result> {
  const tables = openPlainTables(join(root, 'db'));
  try {
    return change(tables);
  } finally {
    await tables.root.close();
  }
}

async function signedJob(t: ExecutionContext, settings: Readonly<Record<string, string>> = {}) {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root, settings });
  const { jobId } = await service.upload('report.txt', 'content');
  t.is((await service.finished(jobId)).status, 'Completed');
  return { root, service, jobId };
}

async function doctorsHistory(root: string) {
  const { out } = await run(freshFolder(), ['doctor', '--json', `--Storage:Root=${root}`]);
  const { checks } = JSON.parse(out) as { checks: { name: string; verdict: string; says: string }[] };
  return checks.find(({ name }) => name === 'history');
}

test('verify-history and doctor report an offline edit of the history of a job', async (t) => {
  const { root, service, jobId } = await signedJob(t);
  t.regex(await byProgram(root), /^0 The history is whole: /, 'while the service runs');
  t.is(await service.stop(), 0);
  t.regex(
    await verified(root),
    /^0 The history is whole: \d+ lines of \d+ actors, \d+ leaves of [1-9]\d* checkpoints\.\n$/,
  );
  const anchor = join(root, 'keys', 'history-anchor');
  const kept = readFileSync(anchor);
  rmSync(anchor);
  t.regex(
    await verified(root),
    /^0 The history is whole: .* The folder of keys has no anchor of the history/,
  );
  const unanchored = await doctorsHistory(root);
  t.is(unanchored?.verdict, 'warning');
  t.regex(unanchored?.says ?? '', /has no anchor of the history/);
  writeFileSync(anchor, kept, { mode: 0o600 });
  // The command covers what it changes, as the service does.
  const keyMade = await run(freshFolder(), ['keys', 'create', 'Ana', 'erp', `--Storage:Root=${root}`]);
  t.is(keyMade.code, 0, keyMade.err);
  t.regex(await verified(root), /^0 The history is whole: .* checkpoints\.\n$/);
  const stored = await edit(root, ({ actors }) => actors.get(['job', jobId]) ?? '');
  const { revision } = JSON.parse(stored) as { readonly revision: number };
  t.true(stored.includes('report.txt'));
  const putActor = (text: string) =>
    edit(root, ({ actors }) => actors.putSync(['job', jobId], text, revision));
  await putActor(stored.replaceAll('report.txt', 'refund.txt'));
  t.regex(await verified(root), new RegExp(`^1 .*job/${jobId}\\. Its state is not the one that checkpoint`));
  await putActor(stored);
  const { state, context, version } = JSON.parse(stored) as StoredActor;
  const listed =
    rowsOfActor({ address: { kind: 'job', id: jobId }, version, state, context } as StoredActor) ?? [];
  t.true(listed.length > 0);
  for (const { view, key } of listed) {
    const place = [view, ...key];
    const row = await edit(root, ({ rows }) => {
      const before = rows.get(place);
      rows.removeSync(place);
      return before;
    });
    t.not(row, undefined, view);
    t.regex(
      await verified(root),
      new RegExp(`^1 .*list ${view}\\. Its row of job/${jobId} is missing`),
      view,
    );
    const last = key.at(-1);
    const more = [...place.slice(0, -1), typeof last === 'number' ? last + 1 : `${last}x`];
    await edit(root, ({ rows }) => {
      rows.putSync(place, row ?? '');
      rows.putSync(more, row ?? '');
    });
    t.regex(
      await verified(root),
      new RegExp(`^1 .*list ${view}\\. It has a row that follows from no actor`),
      view,
    );
    await edit(root, ({ rows }) => rows.removeSync(more));
  }
  t.regex(await verified(root), /^0 The history is whole/);
  const stranger = createCheckpointSigner(generateKeyPairSync('ed25519').privateKey);
  const made = stranger.sign({ sequence: 1, at: Date.now(), leaves: 0, root: '', previous: '' });
  const place = ['history-checkpoints', made.node, 1];
  await edit(root, ({ rows }) => rows.putSync(place, JSON.stringify(made)));
  t.regex(
    await verified(root),
    new RegExp(`^1 .*checkpoint 1 of node ${made.node}\\. Its key is not the one in the folder of keys\\.`),
  );
  await edit(root, ({ rows }) => rows.removeSync(place));
  const key = ['job', jobId, 2];
  await edit(root, ({ journal }) => {
    const line = JSON.parse(journal.get(key) ?? '{}') as JournalLine;
    journal.putSync(key, JSON.stringify({ ...line, message: 'Nothing happened.' }));
  });
  t.regex(
    await byProgram(root),
    new RegExp(`^1 The history was changed\\. The first broken entry: job/${jobId} line 2\\. `),
  );
  const found = await doctorsHistory(root);
  t.is(found?.verdict, 'failed');
  t.regex(found?.says ?? '', new RegExp(`job/${jobId} line 2`));
});

test('verify-history --files reports an output and a file of the portal that were changed', async (t) => {
  const cwd = freshFolder();
  const root = join(cwd, 'data');
  const words = [
    `--Batch:Url=http://127.0.0.1:${await freePort()}`,
    `--Portal:Url=http://127.0.0.1:${await freePort()}`,
  ];
  const program = start(cwd, ['serve', ...words]);
  t.teardown(() => program.child.kill('SIGKILL'));
  await program.says(/\[INF\] Ready/);
  t.is((await run(cwd, ['try'])).code, 0);
  writeFileSync(join(root, 'input', 'report.txt'), 'content');
  await reached(() => existsSync(join(root, 'output', 'report.signed.txt')));
  program.child.kill('SIGTERM');
  t.is(await program.ended, 0);
  t.regex(
    await byProgram(root, '--files'),
    /^0 The history is whole[\s\S]*\d+ stored files have the SHA-256 of the history\.\n/,
  );
  const blobs = readdirSync(join(root, 'portal', 'blobs'), { recursive: true, withFileTypes: true });
  const [blob] = blobs.filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name));
  for (const path of [
    join(root, 'output', 'report.signed.txt'),
    join(blob?.parentPath ?? '', blob?.name ?? ''),
  ]) {
    const content = readFileSync(path);
    const changed = Buffer.from(content);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    chmodSync(path, 0o600);
    writeFileSync(path, changed);
    t.regex(await verified(root), /^0 The history is whole/, 'without --files');
    const report = await verified(root, { files: true });
    t.regex(report, /^1 [\s\S]*The file \S+ is not the one whose SHA-256 is stored/);
    t.true(report.includes(path.slice(root.length + 1)), report);
    writeFileSync(path, content);
  }
  rmSync(join(root, 'output', 'report.signed.txt'));
  t.regex(
    await verified(root, { files: true }),
    /^0 [\s\S]*; 1 outputs are no longer in the output folder\.\n$/,
  );
});

test('logins and logouts are events of the history, and verify-history reports an edited one', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  const port = Number(new URL(service.url).port);
  const key = await service.key();
  t.is((await logIn(port, 'a wrong key')).answer.status, 401);
  const { cookie } = await logIn(port, key);
  for (const _ of ['ends the session', 'has none to end'])
    t.is((await ask(port, 'POST', { path: '/api/auth/logout', headers: { Cookie: cookie } })).status, 302);
  const { text } = await ask(port, 'GET', {
    path: '/api/events?kind=LoggedIn&kind=LoggedOut',
    headers: { 'X-API-Key': key },
  });
  const { items } = JSON.parse(text) as {
    items: { id: string; kind: string; actor: string; message: string }[];
  };
  t.deepEqual(
    items.map(({ kind, actor, message }) => [kind, actor, message]),
    [
      ['LoggedOut', 'operator', 'Logged out from 127.0.0.1.'],
      ['LoggedIn', 'operator', 'Logged in from 127.0.0.1.'],
    ],
  );
  t.is(await service.stop(), 0);
  t.regex(await verified(root), /^0 The history is whole: /);
  const login = items[1]?.id ?? '';
  await edit(root, ({ journal }) => {
    const [line] = [...journal.getRange({ start: ['system-event', login], limit: 1 })];
    journal.putSync(
      line?.key ?? [],
      (line?.value ?? '').replace('Logged in from 127.0.0.1', 'Logged in from 127.0.0.2'),
    );
  });
  t.regex(
    await verified(root),
    new RegExp(`^1 [^]*The first broken entry: system-event/${login} line 1\\. `),
  );
});

test('each exported job has the proof of its history', async (t) => {
  const { root, service, jobId } = await signedJob(t);
  t.is(await service.stop(), 0);
  const { out } = await run(freshFolder(), ['jobs', 'export', `--Storage:Root=${root}`]);
  const { id, historyProof } = JSON.parse(out) as {
    readonly id: string;
    readonly historyProof: { readonly lines: readonly JournalLine[]; readonly sealed: HistoryProof | null };
  };
  t.is(id, jobId);
  const address = { kind: 'job', id };
  let head = '';
  for (const line of historyProof.lines) {
    head = lineHash(head, address, line);
    t.is(line.hash ?? '', head);
  }
  const { sealed } = historyProof;
  t.is(sealed?.hash ?? '', head);
  t.true(sealed !== null && isProven(address, sealed));
});

test('checkpoints are sent to the log and to a webhook with a time-stamp, and reveal a history that was signed anew', async (t) => {
  const bodies: string[] = [];
  const receiver = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    bodies.push(Buffer.concat(pieces).toString());
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const authority = await startAuthority();
  t.teardown(async () => {
    receiver.close();
    await authority.close();
  });
  const { root, service } = await signedJob(t, {
    'History:WebhookUrl': `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/copies`,
    'History:TimestampUrl': authority.timestampUrl,
  });
  t.is(await service.stop(), 0);
  t.true(bodies.length > 0);
  const sent = bodies.map((body) => JSON.parse(body));
  t.true(sent.every(({ type, timestamp }) => type === 'HistoryCheckpoint' && typeof timestamp === 'string'));
  t.is(authority.requests.timestamp, sent.length);
  const kept = join(freshFolder(), 'copies');
  writeFileSync(kept, `${bodies.join('\n')}\n`);
  t.regex(await byProgram(root, '--copy', kept), /^0 .* copies of checkpoints agree\.\n$/);
  const logs = join(root, 'logs');
  const logged = readdirSync(logs).flatMap((file) => readFileSync(join(logs, file), 'utf8').split('\n'));
  t.true(logged.some((line) => line.includes(sent[0].checkpoint.root)));
  writeFileSync(kept, logged.join('\n'));
  t.regex(
    await verified(root, { copies: [kept] }),
    /^0 .* copies of checkpoints agree\.\n$/,
    'cut from the log',
  );

  await edit(root, ({ rows }) => {
    for (const { key } of [...rows.getRange({ start: ['history-'], end: ['history-~'] })])
      rows.removeSync(key);
  });
  t.regex(await verified(root), /^1 .*The folder of keys has an anchor of it/s);
  t.regex(await verified(root, { copies: [kept] }), /^1 .*The store does not hold it, but the copy does\./s);
  writeFileSync(kept, 'no checkpoint');
  t.regex(await verified(root, { copies: [kept] }), /^2 .*hold no checkpoint/);
});
