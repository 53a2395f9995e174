/**
 * The usual operations of both services as tools for language models.
 *
 * Files are named by paths in one folder. Nothing outside of it is read, nothing in it is overwritten, and the data of a
 * service, which has its keys, is no part of it.
 */
import { createWriteStream, existsSync, openAsBlob, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { BatchOperations } from '../typescript/batch.d.ts';
import type { Client } from '../typescript/client.ts';
import type { PortalOperations } from '../typescript/portal.d.ts';

export interface Services {
  /** @throws {Error} without an address of the service */
  batch(): Client<BatchOperations>;
  portal(): Client<PortalOperations>;
  /** Folder of all files, as its real path. */
  readonly folder: string;
}

type Input = Readonly<Record<string, unknown>>;

/** The part of JSON Schema that the tools use. */
interface ValueSchema {
  readonly type: 'string' | 'integer' | 'array' | 'object';
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: ObjectSchema;
}

export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ValueSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** For hosts that ask the person before something is changed. */
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
  run(input: Input, services: Services): Promise<unknown>;
}

/** Participants of one document, as the portal takes them. */
const MAX_PARTICIPANTS = 100;
/** Characters of a text; the services have narrower bounds of their own. */
const MAX_TEXT = 10_000;

const text = (description: string, values?: readonly string[]): ValueSchema => ({
  type: 'string',
  description,
  maxLength: MAX_TEXT,
  ...(values !== undefined && { enum: values }),
});
const FILE = text('Path of the file, in the folder of this server');
const TARGET = text('Path of a new file, in the folder of this server');
const DOCUMENT = text('Id of the document');
const JOB = text('Id of the job');

type Kind = 'reads' | 'adds' | 'ends';

function tool(
  name: string,
  kind: Kind,
  {
    description,
    properties,
    required,
    run,
  }: {
    readonly description: string;
    readonly properties: ObjectSchema['properties'];
    readonly required: readonly string[];
    readonly run: Tool['run'];
  },
): Tool {
  return {
    name,
    description,
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    annotations: { readOnlyHint: kind === 'reads', destructiveHint: kind === 'ends' },
    run,
  };
}

export const TOOLS: readonly Tool[] = [
  tool('sign_file', 'adds', {
    description:
      'Signs a file with the certificate of the service: PDF as PAdES, XML as XAdES, others as CAdES. Returns the job; wait for it with get_job.',
    properties: { path: FILE, profile: text('Name of the signing profile; without it the default one') },
    required: ['path'],
    run: async ({ path, profile }, services) => {
      const query = { wait: 20, ...(profile !== undefined && { profile: String(profile) }) };
      return services.batch().call('POST /api/files', {
        query,
        body: await formOf(services, path),
      });
    },
  }),
  tool('get_job', 'reads', {
    description: 'Shows a job with its status and history.',
    properties: { id: JOB },
    required: ['id'],
    run: async ({ id }, services) =>
      services.batch().call('GET /api/jobs/{id}', { params: { id: String(id) } }),
  }),
  tool('save_signed_file', 'adds', {
    description: 'Saves the signed file of a completed job.',
    properties: { id: JOB, path: TARGET },
    required: ['id', 'path'],
    run: async ({ id, path }, services) => {
      const batch = services.batch();
      return save(services, path, () =>
        batch.response('GET /api/jobs/{id}/output', { params: { id: String(id) } }),
      );
    },
  }),
  tool('validate_file', 'reads', {
    description: 'Validates the signatures of a file: verdict, signers, times and what was changed later.',
    properties: { path: FILE },
    required: ['path'],
    run: async ({ path }, services) =>
      services.batch().call('POST /api/validate', {
        body: await formOf(services, path),
        headers: { accept: 'application/json' },
      }),
  }),
  tool('send_document', 'adds', {
    description:
      'Sends a file to people for their signature. Each gets an e-mail with a link. Equal steps sign at the same time, others one after the other.',
    properties: {
      path: FILE,
      name: text('Name of the document, for people'),
      message: text('Text of the e-mails'),
      participants: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_PARTICIPANTS,
        items: {
          type: 'object',
          properties: {
            name: text('Name of the person'),
            email: text('E-mail address of the person'),
            step: { type: 'integer', minimum: 1, description: 'Place in the order' },
          },
          required: ['name', 'email'],
          additionalProperties: false,
        },
      },
    },
    required: ['path', 'name', 'participants'],
    run: async ({ path, name, message, participants }, services) => {
      const portal = services.portal();
      const upload = await portal.call('POST /api/uploads', { body: await formOf(services, path) });
      const people = participants as readonly { name: string; email: string; step?: number }[];
      return portal.call('POST /api/documents', {
        body: {
          files: [
            { id: upload.id, name: upload.name, contentType: upload.contentType, displayName: String(name) },
          ],
          ...(message !== undefined && { description: String(message) }),
          flowActions: people.map(({ step = 1, ...user }) => ({
            step,
            user,
            allowElectronicSignature: true,
          })),
        },
      });
    },
  }),
  tool('get_document', 'reads', {
    description: 'Shows a document: status, participants, who has signed.',
    properties: { id: DOCUMENT },
    required: ['id'],
    run: async ({ id }, services) =>
      services.portal().call('GET /api/documents/{id}', { params: { id: String(id) } }),
  }),
  tool('list_documents', 'reads', {
    description: 'Lists documents, newest first, 20 at a time.',
    properties: {
      status: text('Only with this status', ['Pending', 'Refused', 'Concluded', 'Canceled', 'Expired']),
      search: text('Only with these letters in the name'),
      cursor: text('nextCursor of the page before'),
    },
    required: [],
    run: async ({ status, search, cursor }, services) =>
      services.portal().call('GET /api/documents', {
        query: {
          limit: 20,
          order: 'Desc',
          // Empty: pages by position begin.
          cursor: String(cursor ?? ''),
          ...(status !== undefined && { status: status as 'Pending' }),
          ...(search !== undefined && { q: String(search) }),
        },
      }),
  }),
  tool('remind_participant', 'adds', {
    description: 'Sends the e-mail to a participant again.',
    properties: {
      id: DOCUMENT,
      flowActionId: text('Id of the flow action of the participant, of get_document'),
    },
    required: ['id', 'flowActionId'],
    run: async ({ id, flowActionId }, services) =>
      services.portal().call('POST /api/notifications/flow-action-reminder', {
        body: { documentId: String(id), flowActionId: String(flowActionId) },
      }),
  }),
  tool('cancel_document', 'ends', {
    description: 'Cancels a document: nobody can sign it any more, and the participants are told.',
    properties: { id: DOCUMENT, reason: text('Reason, which participants read') },
    required: ['id', 'reason'],
    run: async ({ id, reason }, services) =>
      services.portal().call('POST /api/documents/{id}/cancellation', {
        params: { id: String(id) },
        body: { reason: String(reason) },
      }),
  }),
  tool('save_document', 'adds', {
    description: 'Saves the signed file of a document.',
    properties: { id: DOCUMENT, path: TARGET },
    required: ['id', 'path'],
    run: async ({ id, path }, services) => {
      const portal = services.portal();
      const query = { type: 'Signatures' } as const;
      return save(services, path, () =>
        portal.response('GET /api/documents/{id}/content', { params: { id: String(id) }, query }),
      );
    },
  }),
];

/** Faults of arguments, as sentences for the model. */
export function faultsOf(schema: ObjectSchema, input: Input, place = ''): readonly string[] {
  const { properties, required } = schema;
  return [
    ...required.filter((name) => input[name] === undefined).map((name) => `${place}${name} is missing.`),
    ...Object.entries(input).flatMap(([name, value]) => {
      const wanted = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (wanted === undefined) return [`${place}${name.slice(0, 100)} is not known.`];
      return value === undefined ? [] : valueFaults(wanted, value, `${place}${name}`);
    }),
  ];
}

function valueFaults(schema: ValueSchema, value: unknown, name: string): readonly string[] {
  const { type, maxLength = MAX_TEXT, minimum = 0, minItems = 0, maxItems = 0, items } = schema;
  switch (type) {
    case 'string':
      if (typeof value !== 'string') return [`${name} is no text.`];
      if (value.length > maxLength) return [`${name} has more than ${maxLength} characters.`];
      if (schema.enum !== undefined && !schema.enum.includes(value))
        return [`${name} is none of ${schema.enum.join(', ')}.`];
      return [];
    case 'integer':
      return Number.isSafeInteger(value) && (value as number) >= minimum
        ? []
        : [`${name} is no whole number from ${minimum}.`];
    case 'array':
      if (!Array.isArray(value)) return [`${name} is no list.`];
      if (value.length < minItems || value.length > maxItems)
        return [`${name} has ${minItems} to ${maxItems} entries.`];
      return value.flatMap((entry, at) =>
        items === undefined ? [] : entryFaults(items, entry, `${name}[${at}]`),
      );
    case 'object':
      return [`${name} is not known.`];
  }
}

function entryFaults(schema: ObjectSchema, value: unknown, name: string): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${name} is no object.`];
  return faultsOf(schema, value as Input, `${name}.`);
}

/** A form with the file, which is read while it is sent. */
async function formOf({ folder }: Services, path: unknown): Promise<FormData> {
  const file = inFolder(folder, realPathOf(folder, String(path)), path);
  const form = new FormData();
  form.set('file', await openAsBlob(file), basename(file));
  return form;
}

/** Streams an answer into a new file, which is removed when the answer breaks off. */
async function save({ folder }: Services, path: unknown, ask: () => Promise<Response>) {
  const wanted = resolve(folder, String(path));
  const target = inFolder(folder, join(realPathOf(folder, dirname(wanted)), basename(wanted)), path);
  if (existsSync(target)) throw new Error(`${path} exists. Choose a new name: nothing is overwritten.`);
  const { body } = await ask();
  if (body === null) throw new Error('The answer has no file.');
  const file = createWriteStream(target, { flags: 'wx', mode: 0o600 });
  let isOurs = false;
  file.once('open', () => {
    isOurs = true;
  });
  try {
    await pipeline(Readable.fromWeb(body as ReadableStream), file);
  } catch (error) {
    if (isOurs) rmSync(target, { force: true });
    throw error;
  }
  return { saved: target, bytes: file.bytesWritten };
}

/** @throws {Error} with a name that the model knows */
function realPathOf(folder: string, path: string): string {
  const named = resolve(folder, path);
  // Before anything is looked up: what lies outside is not told by the answer.
  if (named !== folder && !isIn(folder, named)) throw notInFolder(folder, path);
  try {
    return realpathSync(named);
  } catch {
    throw new Error(`${path} does not exist. Paths begin in ${folder}.`);
  }
}

function notInFolder(folder: string, path: unknown): Error {
  return new Error(`${path} is not in ${folder}. Files of this server are in that folder alone.`);
}

/** @throws {Error} for a path that leads out of the folder, also by a link, or into the data of a service */
function inFolder(folder: string, real: string, path: unknown): string {
  if (!isIn(folder, real)) throw notInFolder(folder, path);
  // The path is in the folder, so that the loop ends there.
  for (let at = dirname(real); ; at = dirname(at)) {
    if (isDataOfService(at)) throw new Error(`${path} is with the data and the keys of a service.`);
    if (at === folder) return real;
  }
}

/** True for `Storage:Root` of a service that has started there. */
function isDataOfService(folder: string): boolean {
  return (
    existsSync(join(folder, 'db')) && (existsSync(join(folder, 'keys')) || existsSync(join(folder, 'input')))
  );
}

function isIn(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
