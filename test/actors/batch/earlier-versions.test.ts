/** Every kind of actor whose version rose takes over what each earlier version stored, in every state. */
import test from 'ava';
import type { Json, Row, StoredActor } from '#runtime/model/ports.js';
import { deadlinesOf } from '#runtime/step/derive.js';
import { migrationStep } from '#runtime/step/migrate.js';
import { definitions } from '../../../actors/batch/registry.ts';
import { portalDefinitions } from '../../../actors/portal/registry.ts';
import { MAIL_STATUSES } from '../../../contracts/deliveries.ts';
import { organizationMachine } from '../../../machines/portal/accounts/organization.ts';
import { documentMachine } from '../../../machines/portal/documents/document.ts';
import { FOLDER_REMOVED, folderMachine } from '../../../machines/portal/folder.ts';
import { GENERATION_EXPIRED, generationMachine } from '../../../machines/portal/generation.ts';
import { mailMachine } from '../../../machines/portal/mail.ts';
import { savedRequestMachine } from '../../../machines/portal/saved-request.ts';
import { UPLOAD_EXPIRED, uploadMachine } from '../../../machines/portal/upload.ts';
import { webhookSetMachine } from '../../../machines/portal/webhook-set.ts';
import { documentInput, person, plan } from '../../machines/portal/document-harness.ts';
import { declared, initialContext } from '../../machines/table.ts';
import { notice } from '../portal/mailbox.ts';

interface Earlier {
  readonly version: number;
  readonly state: string;
  readonly context: object;
  /** Rows that the way to today's version has to put, by view and key. */
  readonly puts: readonly (readonly [view: string, ...key: Row['key']])[];
  /** The context of today's version; left out: the same. */
  readonly becomes?: object;
}

const content = notice('pending', 'ana@example.test');
const mail = initialContext(mailMachine, { organizationId: 'o', content, at: 5 }) as object;
const webhook = (configured: object) => ({
  id: 'w',
  url: 'https://x.test',
  authType: 'NoAuth',
  ...configured,
});
const webhooks = initialContext(webhookSetMachine, {}) as object;
const input = documentInput();
const asked = person('u1');
const document = {
  ...initialContext(documentMachine, documentInput({ actions: [plan('a1', { user: asked })] })),
  expirationDate: 99,
  made: [
    { fieldName: 'Signature7', image: null },
    { fieldName: null, image: null },
  ],
};

const organization = {
  name: 'Acme',
  createdAt: 5,
  applications: [],
  identifier: null,
  embedOrigins: [],
  language: 'en',
  replyTo: null,
};

const kept = {
  organizationId: 'o',
  creationDate: 5,
  updateDate: 6,
  createdBy: { id: 'a', type: 'Application', name: 'App' },
};

const draft = { ...kept, name: 'Draft', document: {}, uploads: [], sent: null, attempt: 1 };

/** A saved request whose content stood beside its dates, as its only version. */
function inVersions<
  Given extends typeof kept & { name: string; document: object; uploads: readonly object[] },
>({ name, document, uploads, ...context }: Given) {
  const { createdBy, updateDate: creationDate } = context;
  return { ...context, versions: [{ version: 1, name, document, uploads, createdBy, creationDate }] };
}

const upload = {
  organizationId: 'o',
  applicationId: 'a',
  name: 'a.pdf',
  contentType: 'application/pdf',
  blob: { sha256: 'aa', length: 7 },
  md5: '',
  createdAt: 5,
  uses: 1,
};
const participant = { documentId: 'd', flowActionId: 'f', userId: 'u' };

const folder = { organizationId: 'o', name: 'Sales', parentId: null, createdAt: 5 };

const generation = {
  organization: { id: 'o', name: 'Acme' },
  createdBy: draft.createdBy,
  createdAt: 5,
  template: null,
  data: { name: 'people.csv', blob: upload.blob },
  total: 1,
  folderId: null,
  type: null,
  wanted: {},
};

/** A started certificate signature. */
const reservation = { id: 'r', base: 'aa', expiresAt: 8, signingTime: 7, state: null, marks: [] };

/** Everything earlier versions stored. Whoever makes a version of a machine writes down here what the one before stores. */
const EARLIER: { readonly [kind: string]: readonly Earlier[] } = {
  mail: MAIL_STATUSES.flatMap((state) => [
    { version: 1, state, context: mail, puts: [['mails-by', state, 5, 'id']] as const },
    {
      version: 2,
      state,
      context: { ...mail, content: { ...content, message: { channel: 'Sms', phone: '+351912345678' } } },
      puts: [['messages', 'o', '', 5, 'id']] as const,
    },
  ]),
  document: declared(documentMachine).states.flatMap((state) => {
    const { organization: owner, order } = input;
    const expiring =
      state === 'Pending' ? [['documents-expiring', owner.id, document.expirationDate, order] as const] : [];
    const waiting = state === 'Pending' ? [['documents-waiting', `e:${asked.email}`, order] as const] : [];
    const later = [...expiring, ...waiting];
    const signed = state === 'Deleted' ? [] : [['documents-signed', owner.id, 'Signature7'] as const];
    return [
      { version: 1, state, context: document, puts: [...signed, ...later] },
      {
        version: 2,
        state,
        context: { ...document, reservations: [{ ...reservation, until: 9 }] },
        puts: later,
        becomes: { ...document, reservations: [reservation] },
      },
      { version: 3, state, context: document, puts: later },
      { version: 4, state, context: document, puts: waiting },
    ];
  }),
  organization: declared(organizationMachine).states.map((state) => ({
    version: 1,
    state,
    context: organization,
    puts: [],
    becomes: { ...organization, refuseSignedEnvelopeFiles: false },
  })),
  draft: declared(savedRequestMachine({ id: 'draft', most: 1 })).states.flatMap((state) => [
    { version: 1, state, context: draft, puts: [], becomes: inVersions({ ...draft, calls: [] }) },
    {
      version: 2,
      state,
      context: { ...draft, calls: [] },
      puts: [],
      becomes: inVersions({ ...draft, calls: [] }),
    },
    // Sent ones have no row; those without a folder have the same one.
    {
      version: 3,
      state,
      context: { ...draft, calls: [], document: { FolderId: 'f' } },
      puts: state === 'Sent' || state === 'Removed' ? [] : [['drafts', 'o', 5, 'id'] as const],
      becomes: inVersions({ ...draft, calls: [], document: { FolderId: 'f' } }),
    },
    // Its row named the folder already.
    {
      version: 4,
      state,
      context: { ...draft, calls: [], document: { FolderId: 'f' }, canceling: [0] },
      puts: [],
      becomes: inVersions({ ...draft, calls: [], document: { FolderId: 'f' }, canceling: [0] }),
    },
  ]),
  'saved-flow': [
    {
      version: 1,
      state: 'Saved',
      context: {
        ...kept,
        name: 'Flow',
        areActionsOrdered: true,
        flowActions: [{ title: 'A' }],
        observers: [],
      },
      puts: [],
      becomes: inVersions({
        ...kept,
        name: 'Flow',
        document: { areActionsOrdered: true, flowActions: [{ title: 'A' }], observers: [] },
        uploads: [],
      }),
    },
  ],
  template: [
    {
      version: 1,
      state: 'Saved',
      context: {
        organizationId: 'o',
        order: 5,
        createdBy: draft.createdBy,
        creationDate: 5,
        versions: [
          {
            name: 'Lease',
            description: null,
            expirationDays: null,
            roles: [],
            uploads: [],
            version: 1,
            document: { FolderId: 'f' },
            createdBy: draft.createdBy,
            creationDate: 5,
          },
        ],
      },
      puts: [['templates', 'o', 5, 'id']],
    },
  ],
  folder: declared(folderMachine)
    .states.filter((state) => state !== FOLDER_REMOVED)
    .flatMap((state) => [
      { version: 1, state, context: folder, puts: [] },
      {
        version: 1,
        state,
        context: { ...folder, parentId: 'p' },
        puts: [['folder-tree', 'o', 'id'] as const],
      },
    ]),
  generation: declared(generationMachine)
    .states.filter((state) => state !== GENERATION_EXPIRED)
    .flatMap((state) => [
      { version: 1, state, context: generation, puts: [] },
      {
        version: 1,
        state,
        context: { ...generation, source: { id: 't', version: 1, uploads: [] } },
        puts: [['generations-of-template', 'o', 't', 5, 'id'] as const],
      },
    ]),
  upload: declared(uploadMachine)
    .states.filter((state) => state !== UPLOAD_EXPIRED)
    .flatMap((state) => [
      { version: 1, state, context: upload, puts: [] },
      {
        version: 1,
        state,
        context: { ...upload, applicationId: null, participant },
        puts: [['participant-uploads', 'd', 'id'] as const],
      },
    ]),
  'webhook-set': [
    { version: 1, state: 'Kept', context: webhooks, puts: [] },
    ...[
      { version: 1, configured: {}, puts: [] },
      { version: 1, configured: { configured: false }, puts: [] },
      { version: 1, configured: { configured: true }, puts: [['webhooks-configured', 'id']] as const },
      { version: 2, configured: { configured: true }, puts: [] },
    ].map(({ version, configured, puts }) => ({
      version,
      state: 'Kept',
      context: { webhooks: [webhook(configured)] },
      puts,
      becomes: { webhooks: [webhook({ ...configured, fromOperator: false })] },
    })),
  ],
};

test('a new version of a kind of actor needs a stored actor of each earlier version for the test', (t) => {
  const all = [...definitions, ...portalDefinitions];
  for (const { kind, version } of all) {
    const tried = new Set((EARLIER[kind] ?? []).map((earlier) => earlier.version));
    t.deepEqual(
      [...tried].sort(),
      Array.from({ length: version - 1 }, (_, index) => index + 1),
      kind,
    );
  }
});

test('stored actors of earlier versions equal those of the current version after migration', (t) => {
  for (const definition of portalDefinitions) {
    for (const { version, state, context, puts, becomes } of EARLIER[definition.kind] ?? []) {
      // Earlier machines named deadlines by their length.
      const now = [...deadlinesOf(definition.machine, state).keys()];
      const earlier = now.map((_, at) => `xstate.after.${at}000.${definition.kind}.${state}`);
      const timersOf = (names: readonly string[]) =>
        Object.fromEntries(['again', ...names].map((name) => [name, 9]));
      const stored: StoredActor = {
        address: { kind: definition.kind, id: 'id' },
        revision: 7,
        version,
        state,
        context: context as Json,
        timers: timersOf(earlier),
        consumed: ['m'],
        journalLength: 3,
        stopped: null,
      };
      const step = migrationStep(definition, stored, 0);
      const today = { context: (becomes ?? context) as Json, version: definition.version };
      t.deepEqual(step.actor, { ...stored, ...today, timers: timersOf(now), revision: 8 });
      t.deepEqual(
        step.rows.put.map(({ view, key }) => [view, ...key]),
        puts.map((one) => [...one]),
        `${definition.kind} ${state}`,
      );
      t.deepEqual(step.rows.remove, []);
      t.deepEqual(step.counters, {}, 'counters count what is there, as before');
    }
  }
});
