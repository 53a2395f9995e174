/** The node for n8n as it is packed, in a host with items, parameters and accounts, on a service that runs. `scripts/clients/check-n8n.mjs` runs it in n8n itself. */
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import type { BinaryFile, Execution, Item, Property } from '../../clients/n8n/host.ts';
import { APPLICATION_FILE } from '../../service/portal-setup.ts';
import { freshFolder, start } from '../commands/program.ts';

interface Node {
  readonly description: {
    readonly properties: readonly Property[];
    readonly credentials: readonly { readonly name: string }[];
  };
  execute(this: Execution): Promise<Item[][]>;
}

type Accounts = { readonly [name: string]: { readonly url: string; readonly key: string } };

/** Packs the node and loads its classes as n8n does: by `require`, a class by the name of its file. */
async function loaded(): Promise<readonly object[]> {
  const staged = mkdtempSync(join(tmpdir(), 'sealwright-n8n-'));
  const script = new URL('../../../scripts/release/pack.mjs', import.meta.url).href;
  const { packNode } = (await import(script)) as { packNode(staged: string, folder: string): string };
  mkdirSync(join(staged, 'out'));
  packNode(staged, join(staged, 'out'));
  const { n8n } = JSON.parse(readFileSync(join(staged, 'package.json'), 'utf8')) as {
    n8n: { nodes: string[]; credentials: string[] };
  };
  const load = createRequire(join(staged, 'package.json'));
  return [...n8n.nodes, ...n8n.credentials].map((file) => {
    const [name = ''] = file.split('/').at(-1)?.split('.') ?? [];
    const classes = load(join(staged, file)) as { readonly [name: string]: new () => object };
    return new (classes[name] ?? Object)();
  });
}

interface Run {
  readonly accounts: Accounts;
  readonly parameters: { readonly [name: string]: unknown };
  readonly items?: readonly Item[];
  /** Each execution has a number; the same number is another try. */
  readonly execution: number;
  readonly continues?: boolean;
}

/** Gives a node what n8n does, with contents in Base64 in the items. */
function hostOf({
  accounts,
  parameters,
  items = [{ json: {} }],
  execution,
  continues = false,
}: Run): Execution {
  const binary = (item: number, name: string): BinaryFile => {
    const found = items[item]?.binary?.[name];
    if (found === undefined) throw new Error(`The item has no binary field ${name}.`);
    return found;
  };
  return {
    getInputData: () => [...items],
    getNodeParameter: (name, item, fallback) => {
      const value = parameters[name] ?? fallback;
      if (value === undefined) throw new Error(`Could not get parameter ${name}`);
      return typeof value === 'function' ? value(items[item]) : value;
    },
    getCredentials: async <Values extends object>(name: string) => accounts[name] as Values,
    evaluateExpression: (expression) => (expression === '{{ $runIndex }}' ? 0 : undefined),
    continueOnFail: () => continues,
    getExecutionId: () => String(execution),
    getExecutionCancelSignal: () => undefined,
    getNode: () => ({ id: 'f2b1' }),
    getWorkflow: () => ({ id: 'w1' }),
    helpers: {
      assertBinaryData: binary,
      getBinaryDataBuffer: async (item, name) => Buffer.from(binary(item, name).data, 'base64'),
      prepareBinaryData: async (content, fileName = 'file', mimeType = '') => ({
        fileName,
        mimeType,
        data: content.toString('base64'),
      }),
    },
  };
}

async function startedService(t: ExecutionContext): Promise<Accounts> {
  const cwd = freshFolder();
  const service = start(cwd, ['serve', '--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0']);
  t.teardown(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  await service.says(/\[INF\] Ready/);
  const { batchUrl, portalUrl } = JSON.parse(readFileSync(join(cwd, 'data/db/service.json'), 'utf8'));
  const key = (name: string) => readFileSync(join(cwd, 'data/keys', name), 'utf8').trim();
  return {
    sealwrightBatchApi: { url: batchUrl, key: key('api-key') },
    sealwrightPortalApi: { url: portalUrl, key: `default|${key(APPLICATION_FILE)}` },
  };
}

test('the node has ten operations, whose fields it declares, and an account for each service', async (t) => {
  const [node, ...credentials] = await loaded();
  const { description } = node as Node;
  const choices = description.properties.filter(({ name }) => name === 'operation');
  t.is(choices.flatMap(({ options = [] }) => options).length, 10);
  const fields = description.properties.filter(({ displayOptions }) => displayOptions?.show['operation']);
  t.true(fields.length >= 10);
  t.deepEqual(
    description.credentials.map(({ name }) => name),
    credentials.map((one) => (one as { readonly name: string }).name),
  );
});

test('a workflow signs, sends, follows, cancels and saves through the node', async (t) => {
  const accounts = await startedService(t);
  const [node] = (await loaded()) as unknown as readonly [Node];
  let last = 0;
  const run = async (
    resource: string,
    operation: string,
    parameters: object,
    more: Partial<Run> = {},
  ): Promise<Item[]> => {
    last += 1;
    const host = hostOf({
      accounts,
      execution: last,
      ...more,
      parameters: { resource, operation, ...parameters },
    });
    return (await node.execute.call(host)).flat();
  };
  const pdf = samplePdf(10_000).toString('base64');
  const file: Item = {
    json: {},
    binary: { data: { fileName: 'Ação.pdf', mimeType: 'application/pdf', data: pdf } },
  };

  const items = [file];
  const [job] = await run('file', 'sign', {}, { items });
  t.is(job?.json['status'], 'Completed');
  const jobId = job?.json['id'];
  t.is((await run('file', 'get', { jobId }))[0]?.json['status'], 'Completed');
  const [signed] = await run('file', 'download', { jobId, outputPropertyName: 'signed' });
  t.is(signed?.binary?.['signed']?.fileName, 'Ação.signed.pdf');
  t.is(signed?.binary?.['signed']?.mimeType, 'application/pdf');
  const input = { binaryPropertyName: 'signed' };
  const [validated] = await run('file', 'validate', input, { items: signed ? [signed] : [] });
  t.is(validated?.json['indication'], 'TOTAL-PASSED');
  t.deepEqual(validated?.pairedItem, { item: 0 });

  const people = { participant: [{ name: 'Ana', email: 'ana@example.com', step: 1 }] };
  const send = { name: 'Lease', message: 'Please sign', participants: people };
  const [sent] = await run('document', 'send', send, { items, execution: 1_000 });
  const [again] = await run('document', 'send', send, { items, execution: 1_000 });
  t.truthy(sent?.json['documentId']);
  t.is(again?.json['documentId'], sent?.json['documentId'], 'another try of a run makes no second document');
  const documentId = sent?.json['documentId'];
  const [second] = await run('document', 'send', send, { items });
  t.not(second?.json['documentId'], documentId);
  const listed = await run('document', 'getAll', { status: 'Pending', limit: 10 });
  t.deepEqual(
    listed.map(({ json }) => json['id']),
    [second?.json['documentId'], documentId],
    'newest first',
  );
  t.is((await run('document', 'getAll', { limit: 1 })).length, 1);
  const [shown] = await run('document', 'get', { documentId });
  t.is(shown?.json['status'], 'Pending');
  const [action] = (shown?.json['flowActions'] ?? []) as readonly { readonly id: string }[];
  const flowActionId = action?.id;
  await run('document', 'remind', { documentId, flowActionId });
  await run('document', 'cancel', { documentId, reason: 'wrong file' });
  t.is((await run('document', 'get', { documentId }))[0]?.json['status'], 'Canceled');

  await t.throwsAsync(run('document', 'download', { documentId }), { message: /no signatures.* \[item 0\]/ });
  const both = [{ json: { id: 'none' } }, { json: { id: String(documentId) } }];
  const each = { documentId: ({ json }: Item) => json['id'] };
  const continued = await run('document', 'get', each, { items: both, continues: true });
  t.is(continued[0]?.json['code'], 'DocumentNotFound');
  t.is(continued[1]?.json['id'], documentId, 'a failure of one item leaves the others');
});
