/** The small machines of the portal: uploads, organizations, folders, saved flows, marks sessions, reports. */
import test from 'ava';
import { type AnyStateMachine, transition } from 'xstate';
import {
  LIVE_SECRETS,
  MAX_APPLICATIONS,
  NO_SETTINGS,
  type OrganizationContext,
  organizationMachine,
} from '../../../machines/portal/accounts/organization.ts';
import { brandingMachine, NO_BRANDING } from '../../../machines/portal/branding.ts';
import { editorSessionMachine } from '../../../machines/portal/editor-session.ts';
import { FOLDER_REMOVED, folderMachine } from '../../../machines/portal/folder.ts';
import { generationMachine } from '../../../machines/portal/generation.ts';
import { idempotentRequestMachine } from '../../../machines/portal/idempotent-request.ts';
import { linkCodesMachine } from '../../../machines/portal/link-codes.ts';
import { linkVisitorMachine } from '../../../machines/portal/link-visitor.ts';
import { mailboxMachine } from '../../../machines/portal/mailbox.ts';
import { mailboxSessionMachine } from '../../../machines/portal/mailbox-session.ts';
import { marksSessionMachine } from '../../../machines/portal/marks-session.ts';
import { publicLinkMachine } from '../../../machines/portal/public-link.ts';
import { reportMachine } from '../../../machines/portal/report.ts';
import { retentionMachine } from '../../../machines/portal/retention.ts';
import { savedRequestMachine } from '../../../machines/portal/saved-request.ts';
import { MAX_SEGMENTS, segmentedUploadMachine } from '../../../machines/portal/segmented-upload.ts';
import { uploadMachine } from '../../../machines/portal/upload.ts';
import { assertAgreement, attempt, initialContext } from '../table.ts';

interface Case {
  readonly file: string;
  readonly machine: AnyStateMachine;
  readonly input: unknown;
  /** Events that fit the context. */
  readonly events: Readonly<Record<string, object>>;
}

const blob = { sha256: 'a'.repeat(64), length: 3 };
const owner = { organizationId: 'o-1', applicationId: 'a-1', createdAt: 1 };
const secret = { id: 's-1', prefix: 'abcdefgh', sha256: 'b'.repeat(64) };
const application = { id: 'a-1', name: 'App', role: 'Normal', createdAt: 1 };
const provider = {
  id: 'p-1',
  title: 'Acme Trust',
  address: 'https://remote.example.org/csc/v2',
  authorization: null,
  clientId: 'portal',
  clientSecret: 'encrypted',
};
const organization = {
  ...NO_SETTINGS,
  name: 'Acme',
  createdAt: 1,
  applications: [{ ...application, secrets: [{ ...secret, createdAt: 1, lastUsedAt: null }] }],
  signingProviders: [provider],
} as unknown as OrganizationContext;
const by = { id: 'a-1', type: 'Application', name: 'App' };
const version = { version: 1, name: 'Draft', document: {}, uploads: [] };
const draft = { organizationId: 'o-1', createdBy: by, versions: [version], sent: null };
const templateMachine = savedRequestMachine({ id: 'template', most: 50 });

const device = {
  id: 'd-1',
  host: { id: 'u-1', name: 'Ana' },
  isUser: true,
  pin: 'p',
  openedAt: 1,
  endDate: 1e13,
  isTaken: false,
  visit: 'v',
  documentId: null,
  wrongPins: { since: 0, count: 0 },
};

const publicLink = {
  organizationId: 'o-1',
  createdBy: by,
  taken: 0,
  mostDocuments: 2,
  endDate: 1e13,
  taking: [],
  endedAt: null,
  devices: [device, { ...device, id: 'd-0', endDate: 5, visit: 'w' }],
};

const CASES: readonly Case[] = [
  {
    file: 'machines/portal/saved-request.ts',
    machine: savedRequestMachine({ id: 'draft', most: 1 }),
    input: { ...draft, isOfLink: true, calls: [{ id: 'c-1', at: 1 }] },
    events: {
      REPLACE: { content: { name: 'Other', document: {}, uploads: [] }, createdBy: by },
      KEEP: {},
      REMOVE: {},
      SEND: { call: 'c-1' },
      REFUSED: { call: 'c-1' },
      FAILED: { call: 'c-1' },
      CANCELED: { attempt: 0 },
      SENT: { attempt: 0, documents: [] },
    },
  },
  {
    file: 'machines/portal/upload.ts',
    machine: uploadMachine,
    input: { ...owner, name: 'a.pdf', contentType: 'application/pdf', blob, md5: 'x' },
    events: { USE: {}, FORGET: {} },
  },
  {
    file: 'machines/portal/segmented-upload.ts',
    machine: segmentedUploadMachine,
    input: { ...owner, total: 10, name: '', contentType: '', pieces: [[0, 9]] },
    events: { PIECE: { from: 0, to: 4, total: 10, name: 'a', contentType: 'b' }, COMPLETE: {} },
  },
  {
    file: 'machines/portal/accounts/organization.ts',
    machine: organizationMachine,
    input: organization,
    events: {
      ADD_APPLICATION: { id: 'a-2', name: 'Other', role: 'Normal', secret: null },
      ADD_SECRET: { applicationId: 'a-1', ...secret, id: 's-2', retiresOldest: false },
      REVOKE_SECRET: { applicationId: 'a-1', id: 's-1' },
      CONFIGURE: { settings: { language: 'pt' } },
      PUT_PROVIDER: { provider: { ...provider, id: 'p-2' }, isNew: true },
      REMOVE_PROVIDER: { id: 'p-1' },
      USED: { applicationId: 'a-1', id: 's-1' },
      RECORD: { note: 'Mail tested.' },
    },
  },
  {
    file: 'machines/portal/folder.ts',
    machine: folderMachine,
    input: { organizationId: 'o-1', name: 'F', parentId: null, createdAt: 1 },
    events: {
      REPARENT: { parentId: 'f-1' },
      GRANT: { grants: [{ type: 'User', id: 'u-1', right: 'Read' }], by: 'user u-2' },
      HOLD: { by, reason: 'x' },
      REMOVE: { action: 'MoveContent', destination: null, by },
      EMPTIED: {},
    },
  },
  {
    file: 'machines/portal/retention.ts',
    machine: retentionMachine,
    input: {
      organizationId: 'o-1',
      noticeDays: 1,
      rules: [],
      last: { pass: 1, at: -1e9 },
      isRunning: false,
    },
    events: { SET: { noticeDays: 2, rules: [] }, DUE: {}, PASSED: { pass: 1 } },
  },
  {
    file: 'machines/portal/branding.ts',
    machine: brandingMachine,
    input: NO_BRANDING,
    events: { REPLACE: { settings: NO_BRANDING }, SET_LOGO: { logo: null } },
  },
  {
    file: 'machines/portal/marks-session.ts',
    machine: marksSessionMachine,
    input: { organizationId: 'o-1', files: [], data: null, createdAt: 1 },
    events: {},
  },
  {
    file: 'machines/portal/editor-session.ts',
    machine: editorSessionMachine,
    input: {
      organizationId: 'o-1',
      draftId: 'd-1',
      uploads: [],
      returnUrl: null,
      createdAt: 1,
      opened: null,
    },
    events: { OPEN: { sha256: 'x' }, UPLOADED: { uploadId: 'u-1' }, CLOSE: {} },
  },
  {
    file: 'machines/portal/public-link.ts',
    machine: publicLinkMachine,
    input: publicLink,
    events: {
      TAKE: { visit: 'v' },
      KEEP: { visit: 'v' },
      RELEASE: { visit: 'v' },
      END: {},
      DEVICE_OPEN: { device },
      DEVICE_TAKE: { device: 'd-1' },
      DEVICE_NEXT: { device: 'd-1', visit: 'x' },
      DEVICE_MAKE: { device: 'd-1', visit: 'v', documentId: 'x' },
      DEVICE_PIN: { device: 'd-1', pin: 'p' },
      DEVICE_END: { device: 'd-1' },
      DEVICES_OVER: {},
    },
  },
  {
    file: 'machines/portal/link-codes.ts',
    machine: linkCodesMachine,
    input: { since: 0, count: 0 },
    events: { CODE: { most: 1, period: 1_000 } },
  },
  {
    file: 'machines/portal/mailbox.ts',
    machine: mailboxMachine,
    input: {
      email: 'ana@example.org',
      deputies: [{ id: 'd-1', name: 'Lou', email: 'lou@example.org', reason: 'x', from: 1, until: 1e13 }],
    },
    events: {
      NAME: {
        deputy: { id: 'd-2', name: 'Bo', email: 'bo@example.org', reason: 'x', from: 1, until: 1e13 },
        mails: [{}],
      },
      END: { id: 'd-1' },
      FORGET: {},
    },
  },
  {
    file: 'machines/portal/mailbox-session.ts',
    machine: mailboxSessionMachine,
    input: { email: 'ana@example.org', provenAt: 1 },
    events: { LEAVE: {} },
  },
  {
    file: 'machines/portal/link-visitor.ts',
    machine: linkVisitorMachine,
    input: { linkId: 'l-1', organizationId: 'o-1' },
    events: {
      MAKE: { number: 0, visit: { visitId: 'v-1', person: 'p-1', user: { name: 'Ana' }, fieldValues: {} } },
      MADE: { documentId: 'd-1' },
      REFUSED: { code: 'InvalidFieldValue', message: 'y' },
    },
  },
  {
    file: 'machines/portal/idempotent-request.ts',
    machine: idempotentRequestMachine,
    input: { fingerprint: 'f', seed: 's', answer: null },
    events: { ANSWER: { answer: '1' }, FORGET: {} },
  },
  {
    file: 'machines/portal/report.ts',
    machine: reportMachine,
    input: { from: null, to: null, createdAt: 1 },
    events: { MADE: { blob, rows: 1 }, FAILED: { code: 'x', message: 'y' } },
  },
  {
    file: 'machines/portal/generation.ts',
    machine: generationMachine,
    input: { organization: { id: 'o-1', name: 'O' }, createdBy: by, createdAt: 1, total: 1 },
    events: {
      MADE: {},
      FAILED: { code: 'x', message: 'y' },
      ROWS_REFUSED: { rows: [{ row: 0, code: 'x', message: 'y' }] },
      CANCEL: {},
      STOPPED: {},
    },
  },
];

for (const { file, machine, input, events } of CASES) {
  test(`the table and the machine in ${file} agree in every state and on every event`, async (t) => {
    const context = initialContext(machine, input);
    await assertAgreement(t, { file, machine, events, contextOf: () => context });
  });
}

test('a deputy of the same mailbox is replaced; named in the same way, nothing happens', (t) => {
  const deputy = { id: 'd-1', name: 'Lou', email: 'lou@example.org', reason: 'x', from: 1, until: 1_000 };
  const name = (deputies: readonly object[], given: object) => {
    const event = { type: 'NAME', at: 9, deputy: { ...deputy, id: 'd-2', ...given }, mails: [{}] };
    const { accepted, context, effects } = attempt(
      mailboxMachine,
      'Kept',
      { email: 'ana@example.org', deputies },
      event,
    );
    return { accepted, effects, deputies: (context as { deputies: readonly object[] }).deputies };
  };
  t.deepEqual(name([deputy], { from: 9 }), { accepted: true, effects: [], deputies: [deputy] });
  const other = { email: 'lou+2@example.org', name: 'Lou Lima' };
  t.deepEqual(name([deputy], other), {
    accepted: true,
    effects: ['notify'],
    deputies: [{ ...deputy, ...other }],
  });
  // A start that is later, or one that is over, is another one.
  t.is(name([deputy], { from: 10 }).effects.length, 1);
  t.deepEqual(name([{ ...deputy, until: 9 }], {}).deputies, [{ ...deputy, id: 'd-2' }]);
  const five = Array.from({ length: 5 }, (_, at) => ({ ...deputy, id: `${at}`, email: `${at}@example.org` }));
  t.false(name(five, {}).accepted);
  t.true(name(five, { email: '3@example.org', name: 'Bo' }).accepted);
});

test('a template keeps its newest versions within the limits, and the newest one in any case', (t) => {
  const content = { name: 'T', document: 'x'.repeat(100) };
  const added = (versions: readonly object[], one: object) => {
    const context = { ...initialContext(templateMachine, { versions }), versions };
    const event = { type: 'REPLACE', at: 9, content: one, createdBy: by };
    const [next] = transition(
      templateMachine as AnyStateMachine,
      templateMachine.resolveState({ value: 'Saved', context: context as never }),
      event,
    );
    return (next.context as { versions: { version: number }[] }).versions.map(({ version }) => version);
  };
  const some = Array.from({ length: 50 }, (_, at) => ({ ...content, version: at + 1 }));
  t.deepEqual(added(some, content), [...some.slice(1).map(({ version }) => version), 51]);
  const long = { ...content, document: 'x'.repeat(600_000) };
  t.deepEqual(
    added(
      [
        { ...content, version: 1 },
        { ...long, version: 2 },
      ],
      long,
    ),
    [3],
  );
  t.deepEqual(added([{ ...content, version: 1 }], { ...content, document: 'x'.repeat(2_000_000) }), [2]);
});

test('of a saved request that is no draft, nothing is sent in any state; a draft keeps its newest version', (t) => {
  const unsent = { ...draft, isOfLink: true };
  for (const state of ['Unsaved', 'Saved'])
    for (const [context, isSent] of [
      [{ ...unsent, calls: [] }, true],
      [unsent, false],
    ] as const)
      t.is(attempt(templateMachine, state, context, { type: 'SEND', call: 'c', at: 9 }).accepted, isSent);
  const content = { name: 'Next', document: {}, uploads: [] };
  const event = { type: 'REPLACE', content, createdBy: by, at: 9 };
  const machine = savedRequestMachine({ id: 'draft', most: 1 });
  const { context } = attempt(machine, 'Saved', { ...draft, calls: [] }, event);
  t.deepEqual((context as typeof draft).versions, [
    { ...content, version: 2, createdBy: by, creationDate: 9 },
  ] as never);
});

test('a template gets one version from a request that is executed again', (t) => {
  const version = { name: 'T', document: 'x', version: 1 };
  const at = (versions: readonly object[], request: string) => {
    const context = { ...initialContext(templateMachine, { versions }), versions };
    const event = { type: 'REPLACE', at: 9, content: version, createdBy: by, request };
    const [next] = transition(
      templateMachine as AnyStateMachine,
      templateMachine.resolveState({ value: 'Saved', context: context as never }),
      event,
    );
    return (next.context as { versions: { version: number }[] }).versions;
  };
  const once = at([version], 'a');
  t.deepEqual(
    once.map((one) => one.version),
    [1, 2],
  );
  t.deepEqual(at(once, 'a'), once);
  t.is(at(once, 'b').length, 3);
});

test('an organization takes each application once, up to the limit', (t) => {
  const say = (context: object, event: { type: string; [field: string]: unknown }) =>
    attempt(organizationMachine, 'Active', context, { at: 9, ...event }).accepted;
  const add = { type: 'ADD_APPLICATION', id: 'a-2', role: 'Normal', secret: null };
  t.false(say(organization, { ...add, name: 'aPP' }));
  const applications = Array.from({ length: MAX_APPLICATIONS }, (_, at) => ({
    ...application,
    name: `App ${at}`,
    secrets: [],
  }));
  t.false(say({ ...organization, applications }, { ...add, name: 'One more' }));
  t.true(say({ ...organization, applications: applications.slice(1) }, { ...add, name: 'One more' }));
  t.false(say(organization, { type: 'ADD_SECRET', applicationId: 'other', ...secret }));
  t.false(say(organization, { type: 'REVOKE_SECRET', applicationId: 'a-1', id: 'other' }));
  t.is(LIVE_SECRETS, 2);
});

test('a segmented upload refuses a segment of another total size, and one over the limit', (t) => {
  const context = { ...owner, total: 10_000, name: '', contentType: '', pieces: [[0, 0]] };
  const say = (pieces: readonly object[], piece: object) =>
    attempt(
      segmentedUploadMachine,
      'Open',
      { ...context, pieces },
      {
        type: 'PIECE',
        at: 9,
        name: 'a',
        contentType: 'b',
        ...piece,
      },
    ).accepted;
  t.false(say([[0, 0]], { from: 0, to: 0, total: 9_999 }));
  const full = Array.from({ length: MAX_SEGMENTS }, (_, at) => [at, at]);
  t.false(say(full, { from: 5_000, to: 5_000, total: 10_000 }));
  t.true(say(full, { from: 7, to: 7, total: 10_000 }), 'came before');
  t.false(attempt(segmentedUploadMachine, 'Open', context, { type: 'COMPLETE', at: 9 }).accepted);
  t.is(FOLDER_REMOVED, 'Removed');
});

test('expired keys give their places to new ones, and valid keys stay', (t) => {
  for (const retiresOldest of [true, false]) {
    const secrets = [
      { ...secret, id: 'valid', createdAt: 1, lastUsedAt: null },
      { ...secret, id: 'expired', createdAt: 2, lastUsedAt: null, expiresAt: 5 },
    ];
    const applications = [{ ...application, secrets }];
    const snapshot = organizationMachine.resolveState({
      value: 'Active',
      context: { ...organization, applications } as unknown as OrganizationContext,
    });
    const event = { ...secret, type: 'ADD_SECRET', id: 'new', applicationId: 'a-1', retiresOldest, at: 5 };
    const [next] = transition(organizationMachine, snapshot, event as never);
    t.deepEqual(
      next.context.applications[0]?.secrets.map(({ id }) => id),
      ['valid', 'new'],
    );
  }
});

test('a link for anybody makes no more documents than it may, however often a message comes', (t) => {
  const tryIt = (at: number, type: string, more: object = {}, message: object = {}) =>
    attempt(publicLinkMachine, 'Open', { ...publicLink, ...more }, { type, at, visit: 'v', ...message });
  t.false(tryIt(1, 'TAKE', { taken: 2 }).accepted);
  t.true(tryIt(1, 'TAKE', { taken: 1 }).accepted);
  t.false(tryIt(1, 'TAKE', { endedAt: 1 }).accepted);
  t.false(tryIt(2e13, 'TAKE').accepted);
  t.false(tryIt(1, 'TAKE', { taking: Array.from({ length: 100 }, (_, at) => `v-${at}`) }).accepted);
  t.true(tryIt(2e13, 'TAKE', { taken: 2, taking: ['v'] }).accepted, 'it was taken before');
});

test('a device takes one person at a time, its address once, and few wrong PINs', (t) => {
  const tryIt = (type: string, message: object = {}, more: object = {}, at = 1) =>
    attempt(
      publicLinkMachine,
      'Open',
      { ...publicLink, devices: [{ ...device, ...more }] },
      { type, at, device: 'd-1', ...message },
    );
  t.true(tryIt('DEVICE_TAKE').accepted);
  t.false(tryIt('DEVICE_TAKE', {}, { isTaken: true }).accepted);
  t.true(tryIt('DEVICE_MAKE', { visit: 'v', documentId: 'x' }).accepted);
  t.false(tryIt('DEVICE_MAKE', { visit: 'of the last person', documentId: 'x' }).accepted);
  t.true(tryIt('DEVICE_NEXT', { visit: 'w', from: 'v' }).accepted);
  t.false(tryIt('DEVICE_NEXT', { visit: 'w', from: 'of the last person' }).accepted);
  for (const type of ['DEVICE_TAKE', 'DEVICE_NEXT', 'DEVICE_PIN', 'DEVICE_END']) {
    t.false(tryIt(type, { device: 'other', pin: 'p', visit: 'w' }).accepted, type);
    t.false(tryIt(type, { pin: 'p', visit: 'w' }, { endDate: 1 }).accepted, `${type} after its end`);
  }
  const many = { wrongPins: { since: 1, count: 5 } };
  t.true(tryIt('DEVICE_PIN', { pin: 'q' }, { wrongPins: { since: 1, count: 4 } }).accepted);
  t.false(tryIt('DEVICE_PIN', { pin: 'p' }, many).accepted, 'also the right one');
  t.true(tryIt('DEVICE_PIN', { pin: 'p' }, many, 1 + 15 * 60_000).accepted);
  t.false(
    attempt(
      publicLinkMachine,
      'Open',
      { ...publicLink, devices: Array.from({ length: 20 }, (_, at) => ({ ...device, id: `d-${at}` })) },
      { type: 'DEVICE_OPEN', at: 1, device },
    ).accepted,
  );
});

test('links for anybody send no more codes in a period than they may', (t) => {
  const isAccepted = (at: number) =>
    attempt(
      linkCodesMachine,
      'Counting',
      { since: 1_000, count: 2 },
      { type: 'CODE', at, most: 2, period: 500 },
    ).accepted;
  t.false(isAccepted(1_499));
  t.true(isAccepted(1_500));
});
