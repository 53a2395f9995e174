/**
 * A node for n8n, which runs workflows: the usual operations of both services. `scripts/release/pack.mjs` makes the package of it.
 */
import type { BatchOperations } from '../typescript/batch.d.ts';
import { ApiError, Client } from '../typescript/client.ts';
import type { PortalOperations } from '../typescript/portal.d.ts';
import type { Execution, Item, Property } from './host.ts';
import { DOCUMENT_OPERATIONS, FILE_OPERATIONS, type Operation } from './operations.ts';

const RESOURCES = { file: FILE_OPERATIONS, document: DOCUMENT_OPERATIONS };
const CREDENTIALS = { file: 'sealwrightBatchApi', document: 'sealwrightPortalApi' };

type Resource = keyof typeof RESOURCES;

interface Account {
  readonly url: string;
  readonly key: string;
}

/** The choice of the operation of a resource, and the fields of each. */
function form(resource: Resource): Property[] {
  const operations = Object.entries<Operation<never>>(RESOURCES[resource]);
  return [
    {
      displayName: 'Operation',
      name: 'operation',
      type: 'options',
      noDataExpression: true,
      default: operations[0]?.[0] ?? '',
      displayOptions: { show: { resource: [resource] } },
      options: operations.map(([value, { name, action, description }]) => ({
        name,
        value,
        action,
        description,
      })),
    },
    ...operations.flatMap(([operation, { fields }]) =>
      fields.map((field) => ({
        ...field,
        displayOptions: { show: { resource: [resource], operation: [operation] } },
      })),
    ),
  ];
}

export class Sealwright {
  readonly description = {
    displayName: 'Sealwright',
    name: 'sealwright',
    icon: 'file:sealwright.svg' as const,
    group: ['transform' as const],
    version: 1,
    subtitle: '={{$parameter["resource"] + ": " + $parameter["operation"]}}',
    description: 'Sign and validate files, and collect signatures of people',
    defaults: { name: 'Sealwright' },
    usableAsTool: true as const,
    inputs: ['main' as const],
    outputs: ['main' as const],
    credentials: Object.entries(CREDENTIALS).map(([resource, name]) => ({
      name,
      required: true,
      displayOptions: { show: { resource: [resource] } },
    })),
    properties: [
      {
        displayName: 'Resource',
        name: 'resource',
        type: 'options',
        noDataExpression: true,
        default: 'file',
        options: [
          { name: 'File', value: 'file', description: 'Signed by the service itself' },
          { name: 'Document', value: 'document', description: 'Signed by people' },
        ],
      },
      ...form('file'),
      ...form('document'),
    ] satisfies Property[] as Property[],
  };

  /** Runs for each item. A failure ends the run, unless the person has chosen to continue. */
  async execute(this: Execution): Promise<Item[][]> {
    const results: Item[] = [];
    for (const item of this.getInputData().keys()) {
      try {
        for (const result of await run(this, item)) results.push({ ...result, pairedItem: { item } });
      } catch (error) {
        const failure = explained(error, item);
        if (!this.continueOnFail()) throw failure;
        const { message, code, requestId } = failure;
        results.push({ json: { error: message, code, requestId }, pairedItem: { item } });
      }
    }
    return [results];
  }
}

async function run(host: Execution, item: number): Promise<readonly Item[]> {
  const resource = host.getNodeParameter('resource', item) as Resource;
  const operation = String(host.getNodeParameter('operation', item));
  const account = await host.getCredentials<Account>(CREDENTIALS[resource], item);
  const call = { host, item, once: once(host, item), signal: host.getExecutionCancelSignal() };
  if (resource === 'file')
    return named(FILE_OPERATIONS, operation).run({ ...call, service: new Client<BatchOperations>(account) });
  const service = new Client<PortalOperations>(account);
  return named(DOCUMENT_OPERATIONS, operation).run({ ...call, service });
}

function named<Service>(
  operations: { readonly [name: string]: Operation<Service> },
  name: string,
): Operation<Service> {
  const found = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (found === undefined) throw new Error(`There is no operation ${name}.`);
  return found;
}

/**
 * The same key for each try of one run, so that a node with "Retry On Fail" makes one job or document. An assistant that calls the node again means
 * another call; executions that are not kept have no id.
 */
function once(host: Execution, item: number): { readonly [name: string]: string } {
  const execution = host.getExecutionId();
  if (!/^\d+$/.test(execution) || host.isToolExecution?.() === true) return {};
  const run = host.evaluateExpression('{{ $runIndex }}', item);
  const key = [host.getWorkflow().id, execution, host.getNode().id, run, item].join('-');
  return { 'idempotency-key': key };
}

interface Failure extends Error {
  readonly code: string;
  readonly requestId: string;
}

/** Says which item, and what the service calls it. n8n shows `description` below the message. */
function explained(error: unknown, item: number): Failure {
  const { message, cause } = error as Error;
  const { code = '', requestId = '' } = error instanceof ApiError ? error : {};
  // `fetch` says no more than that it failed.
  const reason = cause instanceof Error ? `${message}: ${cause.message || cause.name}` : message;
  const description = [code, requestId === '' ? '' : `request ${requestId}`].filter(Boolean).join(', ');
  return Object.assign(new Error(`${reason} [item ${item}]`, { cause: error }), {
    code,
    requestId,
    description,
    context: { itemIndex: item },
  });
}
