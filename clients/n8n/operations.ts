/** The ten operations: what a person fills in, and the calls that are made of it. */
import type { BatchOperations } from '../typescript/batch.d.ts';
import { type Client, items } from '../typescript/client.ts';
import type { PortalOperations } from '../typescript/portal.d.ts';
import type { Execution, Item, Property } from './host.ts';

/** One operation with the fields of its form. */
export interface Operation<Service> {
  readonly name: string;
  readonly action: string;
  readonly description: string;
  readonly fields: readonly Property[];
  run(call: Call<Service>): Promise<readonly Item[]>;
}

/** The run of an operation for one item. */
export interface Call<Service> {
  readonly service: Service;
  readonly host: Execution;
  readonly item: number;
  /** Headers that make a repetition of this run the same call. */
  readonly once: { readonly [name: string]: string };
  /** Ends when the person stops the workflow. */
  readonly signal: AbortSignal | undefined;
}

type Batch = Client<BatchOperations>;
type Portal = Client<PortalOperations>;

function text(
  name: string,
  displayName: string,
  description: string,
  more: Partial<Property> = {},
): Property {
  return { name, displayName, description, type: 'string', default: '', ...more };
}

const required = { required: true };
const INPUT = text('binaryPropertyName', 'Input Binary Field', 'Field of the item that has the file', {
  default: 'data',
  required: true,
});
const OUTPUT = text(
  'outputPropertyName',
  'Put Output File in Field',
  'Field of the item that gets the file',
  {
    default: 'data',
    required: true,
  },
);
const JOB = text('jobId', 'Job ID', 'Member jobId or id of a job', required);
const DOCUMENT = text('documentId', 'Document ID', 'Member id or documentId of a document', required);
const STATUSES = ['Pending', 'Concluded', 'Refused', 'Canceled', 'Expired'] as const;
type Status = (typeof STATUSES)[number];
/** Documents of one page of a list. */
const PAGE = 100;

/** Of the batch service. */
export const FILE_OPERATIONS: { readonly [name: string]: Operation<Batch> } = {
  sign: {
    name: 'Sign',
    action: 'Sign a file',
    description: 'Sign a file with the certificate of the service; waits 20 seconds for the end of the job',
    fields: [INPUT, text('profile', 'Profile', 'Signing profile; without it the default one')],
    async run({ service, host, item, once, ...call }) {
      const profile = String(host.getNodeParameter('profile', item, ''));
      return json(
        await service.call('POST /api/files', {
          ...options(call),
          query: { wait: 20, ...(profile !== '' && { profile }) },
          body: await formOf(host, item),
          headers: once,
        }),
      );
    },
  },
  get: {
    name: 'Get Job',
    action: 'Get a job',
    description: 'Get the status and history of a job',
    fields: [JOB],
    run: async ({ service, ...call }) =>
      json(await service.call('GET /api/jobs/{id}', { ...options(call), params: { id: id(call, 'jobId') } })),
  },
  download: {
    name: 'Download Signed File',
    action: 'Download a signed file',
    description: 'Download the signed file of a completed job',
    fields: [JOB, OUTPUT],
    run: async ({ service, ...call }) => {
      const params = { id: id(call, 'jobId') };
      return fileOf(await service.response('GET /api/jobs/{id}/output', { ...options(call), params }), call);
    },
  },
  validate: {
    name: 'Validate',
    action: 'Validate a file',
    description: 'Validate the signatures of a file: verdict, signers, times, and what was changed later',
    fields: [INPUT],
    run: async ({ service, ...call }) =>
      json(
        await service.call('POST /api/validate', {
          ...options(call),
          body: await formOf(call.host, call.item),
          headers: { accept: 'application/json' },
        }),
      ),
  },
};

/** Of the portal. */
export const DOCUMENT_OPERATIONS: { readonly [name: string]: Operation<Portal> } = {
  send: {
    name: 'Send',
    action: 'Send a document for signature',
    description: 'Send a file to people for their signature; each gets an e-mail with a link',
    fields: [
      INPUT,
      text('name', 'Name', 'Name of the document, for people', required),
      text('message', 'Message', 'Text of the e-mails'),
      {
        displayName: 'Participants',
        name: 'participants',
        type: 'fixedCollection',
        description: 'Who signs. Equal steps sign at the same time, others one after the other.',
        default: {},
        required: true,
        typeOptions: { multipleValues: true },
        options: [
          {
            displayName: 'Participant',
            name: 'participant',
            values: [
              text('name', 'Name', 'Name of the person'),
              text('email', 'Email', 'E-mail address of the person', { placeholder: 'ana@example.com' }),
              {
                displayName: 'Step',
                name: 'step',
                type: 'number',
                description: 'Place in the order',
                default: 1,
                typeOptions: { minValue: 1 },
              },
            ],
          },
        ],
      },
    ],
    run: send,
  },
  get: {
    name: 'Get',
    action: 'Get a document',
    description: 'Get a document: status, participants, who has signed',
    fields: [DOCUMENT],
    run: async ({ service, ...call }) => {
      const params = { id: id(call, 'documentId') };
      return json(await service.call('GET /api/documents/{id}', { ...options(call), params }));
    },
  },
  getAll: {
    name: 'Get Many',
    action: 'Get many documents',
    description: 'List documents, newest first',
    fields: [
      {
        displayName: 'Limit',
        name: 'limit',
        type: 'number',
        description: 'Max number of results to return',
        default: 50,
        typeOptions: { minValue: 1, maxValue: 10_000 },
      },
      {
        displayName: 'Status',
        name: 'status',
        type: 'options',
        description: 'Only documents with this status',
        default: '',
        options: [
          { name: 'Any', value: '' },
          ...STATUSES.map((name) => ({ name: name as string, value: name as string })),
        ],
      },
      text('search', 'Search', 'Only documents with these letters in the name'),
    ],
    run: list,
  },
  remind: {
    name: 'Remind',
    action: 'Remind a participant',
    description: 'Send the e-mail to a participant again',
    fields: [
      DOCUMENT,
      text('flowActionId', 'Flow Action ID', 'Of a member of flowActions, of Get', required),
    ],
    async run({ service, ...call }) {
      const body = { documentId: id(call, 'documentId'), flowActionId: id(call, 'flowActionId') };
      await service.call('POST /api/notifications/flow-action-reminder', { ...options(call), body });
      return json({ ...body, reminded: true });
    },
  },
  cancel: {
    name: 'Cancel',
    action: 'Cancel a document',
    description: 'End a document: nobody can sign it any more, and the participants are told',
    fields: [DOCUMENT, text('reason', 'Reason', 'Reason, which participants read', required)],
    async run({ service, ...call }) {
      const params = { id: id(call, 'documentId') };
      const body = { reason: String(call.host.getNodeParameter('reason', call.item)) };
      await service.call('POST /api/documents/{id}/cancellation', { ...options(call), params, body });
      return json({ ...params, canceled: true });
    },
  },
  download: {
    name: 'Download',
    action: 'Download a document',
    description: 'Download the signed file of a document',
    fields: [DOCUMENT, OUTPUT],
    run: async ({ service, ...call }) => {
      const params = { id: id(call, 'documentId') };
      const query = { type: 'Signatures' } as const;
      const operation = 'GET /api/documents/{id}/content';
      return fileOf(await service.response(operation, { ...options(call), params, query }), call);
    },
  },
};

async function send({ service, host, item, once, ...call }: Call<Portal>): Promise<readonly Item[]> {
  const { participant = [] } = host.getNodeParameter('participants', item, {}) as {
    participant?: readonly { name: string; email: string; step?: number }[];
  };
  const message = String(host.getNodeParameter('message', item, ''));
  const displayName = String(host.getNodeParameter('name', item));
  const body = await formOf(host, item);
  const upload = await service.call('POST /api/uploads', { ...options(call), body, headers: once });
  const { id, name, contentType } = upload;
  const documents = await service.call('POST /api/documents', {
    ...options(call),
    headers: once,
    body: {
      files: [{ id, name, contentType, displayName }],
      ...(message !== '' && { description: message }),
      flowActions: participant.map(({ step = 1, ...user }) => ({
        step,
        user,
        allowElectronicSignature: true,
      })),
    },
  });
  return documents.map((document) => ({ json: { ...document } }));
}

async function list({ service, host, item, ...call }: Call<Portal>): Promise<readonly Item[]> {
  const limit = Number(host.getNodeParameter('limit', item, 50));
  const status = host.getNodeParameter('status', item, '') as Status | '';
  const q = String(host.getNodeParameter('search', item, ''));
  const found: Item[] = [];
  const page = (cursor: string) =>
    service.call('GET /api/documents', {
      ...options(call),
      query: {
        limit: Math.min(limit, PAGE),
        order: 'Desc',
        cursor,
        ...(status !== '' && { status }),
        ...(q !== '' && { q }),
      },
    });
  for await (const document of items(page)) {
    found.push({ json: { ...document } });
    if (found.length >= limit) break;
  }
  return found;
}

function options({ signal }: Pick<Call<unknown>, 'signal'>) {
  return signal === undefined ? {} : { signal };
}

function id({ host, item }: Pick<Call<unknown>, 'host' | 'item'>, name: string): string {
  return String(host.getNodeParameter(name, item)).trim();
}

function json(answer: object): readonly Item[] {
  return [{ json: { ...answer } }];
}

async function formOf(host: Execution, item: number): Promise<FormData> {
  const name = String(host.getNodeParameter('binaryPropertyName', item, 'data'));
  const { fileName = 'file', mimeType } = host.helpers.assertBinaryData(item, name);
  const content = await host.helpers.getBinaryDataBuffer(item, name);
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(content)], { type: mimeType }), fileName);
  return form;
}

async function fileOf(
  answer: Response,
  { host, item }: Pick<Call<unknown>, 'host' | 'item'>,
): Promise<readonly Item[]> {
  const { headers } = answer;
  const [, name] = /filename\*=UTF-8''([^;]+)/.exec(headers.get('content-disposition') ?? '') ?? [];
  const content = Buffer.from(await answer.arrayBuffer());
  const binary = await host.helpers.prepareBinaryData(
    content,
    name === undefined ? undefined : decodeURIComponent(name),
    headers.get('content-type') ?? 'application/octet-stream',
  );
  const field = String(host.getNodeParameter('outputPropertyName', item, 'data'));
  return [{ json: { fileName: binary.fileName, bytes: content.length }, binary: { [field]: binary } }];
}
