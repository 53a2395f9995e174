/** The tools for assistants, as a host uses them: a program that it starts, with lines of JSON on its input and output. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { APPLICATION_FILE } from '../../service/portal-setup.ts';
import { freshFolder, start } from './program.ts';

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

/** Starts the server in a folder. */
function host(t: ExecutionContext, cwd: string) {
  const { child, ended } = start(cwd, ['mcp'], {}, 'pipe');
  t.teardown(() => child.kill('SIGKILL'));
  const waiting = new Map<number | null, (answer: Answer) => void>();
  if (child.stdout === null || child.stdin === null) throw new Error('the program has no pipes');
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
  const call = async (name: string, input: object) =>
    (await ask('tools/call', { name, arguments: input })).result;
  /** The JSON of a call that must succeed. */
  const done = async (name: string, input: object) => {
    const result = await call(name, input);
    t.falsy(result?.isError, result?.content?.[0]?.text);
    return JSON.parse(result?.content?.[0]?.text ?? '');
  };
  return { ask, call, done, stdin, ended };
}

test('an assistant signs, sends, follows, cancels and saves through its tools, in its folder alone', async (t) => {
  const cwd = freshFolder();
  const ports = ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0'];
  const service = start(cwd, ['serve', ...ports]);
  t.teardown(() => service.child.kill('SIGKILL'));
  const { ask, call, done, stdin, ended } = host(t, cwd);
  const { result } = await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {} });
  t.is(result?.protocolVersion, '2025-06-18');
  stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const { result: listed } = await ask('tools/list');
  t.is(listed?.tools?.length, 10);
  for (const [list] of JSON.stringify(listed).matchAll(/"type":"array",[^{]*/g))
    t.regex(list, /"maxItems":\d+/, 'each list has a maximum');
  await service.says(/\[INF\] Ready/);
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
    t.regex(refused?.content?.[0]?.text ?? '', /with the data and the keys of the service/);
  t.is((await ask('tools/call', { name: 'sign_file', arguments: {} })).error?.code, -32602);
  t.deepEqual(
    (await ask('ping', { text: 'one\u2028two' })).result,
    {},
    'a line end of Unicode ends no message',
  );
  t.is((await ask('tools/call', null)).error?.code, -32603, 'an error has a code');
  t.is((await ask('resources/list')).error?.code, -32601);
  stdin.end();
  t.is(await ended, 0, 'it ends with its input');
});
