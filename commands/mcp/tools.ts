/**
 * The usual operations of both services as tools for language models.
 *
 * Files are named by paths in one folder. Nothing outside of it is read, nothing in it is overwritten, and the data of the
 * service, which has its keys, is no part of it.
 *
 * Source: docs/how-to.md, "Use it from an assistant".
 */
import { existsSync, openAsBlob, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { BatchOperations } from '../../clients/typescript/batch.d.ts';
import type { Client } from '../../clients/typescript/client.ts';
import type { PortalOperations } from '../../clients/typescript/portal.d.ts';
import { MAX_ACTIONS } from '../../contracts/portal/words.ts';

export interface Services {
  /** Rejects when the service cannot be had. */
  batch(): Promise<Client<BatchOperations>>;
  portal(): Promise<Client<PortalOperations>>;
  /** Folder of all files. */
  readonly folder: string;
  /** `Storage:Root`. */
  readonly root: string;
}

type Input = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
    readonly additionalProperties: false;
  };
  /** For hosts that ask the person before something is changed. */
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
  run(input: Input, services: Services): Promise<unknown>;
}

const text = (description: string, more: object = {}) => ({ type: 'string', description, ...more });
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
    readonly properties: Readonly<Record<string, object>>;
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
      return (await services.batch()).call('POST /api/files', {
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
      (await services.batch()).call('GET /api/jobs/{id}', { params: { id: String(id) } }),
  }),
  tool('save_signed_file', 'adds', {
    description: 'Saves the signed file of a completed job.',
    properties: { id: JOB, path: TARGET },
    required: ['id', 'path'],
    run: async ({ id, path }, services) => {
      const batch = await services.batch();
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
      (await services.batch()).call('POST /api/validate', {
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
        maxItems: MAX_ACTIONS,
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
      const portal = await services.portal();
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
      (await services.portal()).call('GET /api/documents/{id}', { params: { id: String(id) } }),
  }),
  tool('list_documents', 'reads', {
    description: 'Lists documents, newest first, 20 at a time.',
    properties: {
      status: text('Only with this status', {
        enum: ['Pending', 'Refused', 'Concluded', 'Canceled', 'Expired'],
      }),
      search: text('Only with these letters in the name'),
      cursor: text('nextCursor of the page before'),
    },
    required: [],
    run: async ({ status, search, cursor }, services) =>
      (await services.portal()).call('GET /api/documents', {
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
      (await services.portal()).call('POST /api/notifications/flow-action-reminder', {
        body: { documentId: String(id), flowActionId: String(flowActionId) },
      }),
  }),
  tool('cancel_document', 'ends', {
    description: 'Cancels a document: nobody can sign it any more, and the participants are told.',
    properties: { id: DOCUMENT, reason: text('Reason, which participants read') },
    required: ['id', 'reason'],
    run: async ({ id, reason }, services) =>
      (await services.portal()).call('POST /api/documents/{id}/cancellation', {
        params: { id: String(id) },
        body: { reason: String(reason) },
      }),
  }),
  tool('save_document', 'adds', {
    description: 'Saves the signed file of a document.',
    properties: { id: DOCUMENT, path: TARGET },
    required: ['id', 'path'],
    run: async ({ id, path }, services) => {
      const portal = await services.portal();
      const query = { type: 'Signatures' } as const;
      return save(services, path, () =>
        portal.response('GET /api/documents/{id}/content', { params: { id: String(id) }, query }),
      );
    },
  }),
];

/** A form with the file; to a service of another machine it is read while it is sent. */
async function formOf(services: Services, path: unknown): Promise<FormData> {
  const file = inFolder(services, realpathSync(resolve(services.folder, String(path))), path);
  const form = new FormData();
  form.set('file', await openAsBlob(file), basename(file));
  return form;
}

async function save(services: Services, path: unknown, ask: () => Promise<Response>) {
  const wanted = resolve(services.folder, String(path));
  const target = inFolder(services, join(realpathSync(dirname(wanted)), basename(wanted)), path);
  const bytes = Buffer.from(await (await ask()).arrayBuffer());
  writeFileSync(target, bytes, { flag: 'wx', mode: 0o600 });
  return { saved: target, bytes: bytes.length };
}

/**
 * @throws {Error} for a path that leads out of the folder, also by a link, or into the data of the service; a folder that is
 * a part of the data was chosen by the person
 */
function inFolder({ folder, root }: Pick<Services, 'folder' | 'root'>, real: string, path: unknown): string {
  const top = realpathSync(folder);
  if (!isIn(top, real))
    throw new Error(`${path} is not in ${folder}. Files of this server are in that folder alone.`);
  const data = existsSync(root) ? realpathSync(root) : root;
  if (isIn(data, real) && !isIn(data, top))
    throw new Error(`${path} is in ${root}, with the data and the keys of the service.`);
  return real;
}

function isIn(folder: string, path: string): boolean {
  return path.startsWith(`${folder}${sep}`);
}
