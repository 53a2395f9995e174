/** The server for assistants as it is packed, as a host uses it: a program with lines of JSON on its input and output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { APPLICATION_FILE } from '../../service/portal-setup.ts';
import { freshFolder, start } from '../commands/program.ts';

interface Result {
  readonly content?: readonly { readonly text: string }[];
  readonly isError?: boolean;
  readonly tools?: readonly { readonly name: string }[];
  readonly protocolVersion?: string;
}
interface Answer {
  readonly id: number | null;
  readonly result?: Result;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Packs the server, and returns its program. */
async function packed(): Promise<string> {
  const staged = mkdtempSync(join(tmpdir(), 'sealwright-mcp-'));
  const script = new URL('../../../scripts/release/pack.mjs', import.meta.url).href;
  const { packMcp } = (await import(script)) as { packMcp(staged: string, folder: string): string };
  mkdirSync(join(staged, 'out'));
  packMcp(staged, join(staged, 'out'));
  const { bin } = JSON.parse(readFileSync(join(staged, 'package.json'), 'utf8')) as {
    bin: { readonly 'sealwright-mcp': string };
  };
  return join(staged, bin['sealwright-mcp']);
}

/** Starts the server for a folder. */
async function host(t: ExecutionContext, folder: string, env: Readonly<Record<string, string>> = {}) {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [await packed(), '--folder', folder], {
    env: { PATH, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close').then(([code]) => code as number);
  t.teardown(() => child.kill('SIGKILL'));
  const waiting = new Map<number | null, (answer: Answer) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer;
    waiting.get(answer.id)?.(answer);
  });
  const { stdin } = child;
  let last = 0;
  const ask = (method: string, params: object | null = {}) => {
    last += 1;
    const id = last;
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answered;
  };
  /** Sends text of any kind, which is answered without an id. */
  const askRaw = (line: string) => {
    const answered = new Promise<Answer>((resolve) => waiting.set(null, resolve));
    stdin.write(`${line}\n`);
    return answered;
  };
  const call = async (name: string, input: object) =>
    (await ask('tools/call', { name, arguments: input })).result;
  /** The JSON of a call that must succeed. */
  const done = async (name: string, input: object) => {
    const result = await call(name, input);
    t.falsy(result?.isError, result?.content?.[0]?.text);
    return JSON.parse(result?.content?.[0]?.text ?? '');
  };
  return { ask, askRaw, call, done, stdin, ended };
}

test('an assistant signs, sends, follows, cancels and saves through its tools, in its folder alone', async (t) => {
  const cwd = freshFolder();
  const ports = ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0'];
  const service = start(cwd, ['serve', ...ports]);
  t.teardown(() => service.child.kill('SIGKILL'));
  await service.says(/\[INF\] Ready/);
  const key = (name: string) => readFileSync(join(cwd, 'data', 'keys', name), 'utf8').trim();
  const { batchUrl, portalUrl } = JSON.parse(readFileSync(join(cwd, 'data/db/service.json'), 'utf8')) as {
    batchUrl: string;
    portalUrl: string;
  };
  const { ask, call, done, stdin, ended } = await host(t, cwd, {
    SEALWRIGHT_BATCH_URL: batchUrl,
    SEALWRIGHT_BATCH_KEY: key('api-key'),
    SEALWRIGHT_PORTAL_URL: portalUrl,
    SEALWRIGHT_PORTAL_KEY: `default|${key(APPLICATION_FILE)}`,
  });
  const { result } = await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {} });
  t.is(result?.protocolVersion, '2025-06-18');
  stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const { result: listed } = await ask('tools/list');
  t.is(listed?.tools?.length, 10);
  for (const [list] of JSON.stringify(listed).matchAll(/"type":"array",[^{]*/g))
    t.regex(list, /"maxItems":\d+/, 'each list has a maximum');
  writeFileSync(join(cwd, 'lease.pdf'), samplePdf(10_000));

  const job = await done('sign_file', { path: 'lease.pdf' });
  t.is((await done('get_job', { id: job.id ?? job.jobId })).status, 'Completed');
  await done('save_signed_file', { id: job.id ?? job.jobId, path: 'signed.pdf' });
  t.is((await done('validate_file', { path: 'signed.pdf' })).indication, 'TOTAL-PASSED');
  const again = await call('save_signed_file', { id: job.id ?? job.jobId, path: 'signed.pdf' });
  t.true(again?.isError, 'nothing is overwritten');
  t.true(readFileSync(join(cwd, 'signed.pdf')).length > 10_000);

  const participants = [{ name: 'Ana', email: 'ana@example.com' }];
  const [{ documentId: id }] = await done('send_document', {
    path: 'lease.pdf',
    name: 'Lease',
    participants,
  });
  const document = await done('get_document', { id });
  t.is(document.status, 'Pending');
  const [second] = await done('send_document', { path: 'lease.pdf', name: 'Annex', participants });
  const { items } = await done('list_documents', { status: 'Pending' });
  t.deepEqual(
    items.map((item: { id: string }) => item.id),
    [second.documentId, id],
    'newest first',
  );
  await done('remind_participant', { id, flowActionId: document.flowActions[0].id });
  await done('cancel_document', { id, reason: 'wrong file' });
  t.is((await done('get_document', { id })).status, 'Canceled');
  const unsigned = await call('save_document', { id, path: 'never.pdf' });
  t.true(unsigned?.isError, 'a document that nobody signed has no signed file');
  t.false(existsSync(join(cwd, 'never.pdf')));

  symlinkSync('/etc/hostname', join(cwd, 'link.txt'));
  for (const path of ['/etc/hostname', '../other.txt', 'link.txt']) {
    const refused = await call('sign_file', { path });
    t.true(refused?.isError, path);
  }
  const secret = join('data', 'keys', APPLICATION_FILE);
  t.true(existsSync(join(cwd, secret)));
  for (const refused of [
    await call('sign_file', { path: secret }),
    await call('save_signed_file', { id: job.id ?? job.jobId, path: join('data', 'input', 'signed.pdf') }),
  ])
    t.regex(refused?.content?.[0]?.text ?? '', /with the data and the keys of a service/);
  t.is((await ask('tools/call', { name: 'sign_file', arguments: {} })).error?.code, -32602);
  t.deepEqual(
    (await ask('ping', { text: 'one\u2028two' })).result,
    {},
    'a line end of Unicode ends no message',
  );
  t.is((await ask('tools/call', null)).error?.code, -32602, 'an error has a code');
  t.is((await ask('resources/list')).error?.code, -32601);
  stdin.end();
  t.is(await ended, 0, 'it ends with its input');
});

test('messages and arguments that a host should not send are refused, each by its reason', async (t) => {
  const folder = freshFolder();
  const { ask, askRaw, call, stdin, ended } = await host(t, folder);
  const { result } = await ask('initialize', { protocolVersion: '2099-01-01', capabilities: {} });
  t.is(result?.protocolVersion, '2025-11-25', 'the newest version that it knows');
  const refusal = async (name: string, input: object) =>
    (await ask('tools/call', { name, arguments: input })).error?.message;
  t.is(await refusal('sign_file', { path: 7 }), 'path is no text.');
  t.is(await refusal('sign_file', { path: 'x'.repeat(10_001) }), 'path has more than 10000 characters.');
  t.is(await refusal('get_job', { id: 'a', toString: 'b' }), 'toString is not known.');
  t.regex((await refusal('list_documents', { status: 'Open' })) ?? '', /^status is none of Pending, /);
  const participants = [{ name: 'Ana', email: 'ana@example.com', step: 0 }];
  const document = { path: 'a.pdf', name: 'Lease' };
  t.is(
    await refusal('send_document', { ...document, participants }),
    'participants[0].step is no whole number from 1.',
  );
  t.is(
    await refusal('send_document', { ...document, participants: ['Ana'] }),
    'participants[0] is no object.',
  );
  for (const [line, code] of [
    ['x'.repeat(1024 * 1024 + 1), -32600],
    ['{"jsonrpc":"2.0"', -32700],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
  ] as const)
    t.is((await askRaw(line)).error?.code, code, line.slice(0, 50));
  t.regex((await call('get_job', { id: 'a' }))?.content?.[0]?.text ?? '', /SEALWRIGHT_BATCH_URL/);
  stdin.end();
  t.is(await ended, 0);
});
