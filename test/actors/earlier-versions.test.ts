/** Every kind of actor whose version rose takes over what each earlier version stored, in every state. */
import test from 'ava';
import { portalDefinitions } from '../../actors/portal/registry.ts';
import { definitions } from '../../actors/registry.ts';
import { MAIL_STATES, mailMachine } from '../../machines/mail.ts';
import { webhookSetMachine } from '../../machines/webhook-set.ts';
import { migrationStep } from '../../runtime/migrate.ts';
import type { Json, Row, StoredActor } from '../../runtime/ports.ts';
import { initialContext } from '../machines/table.ts';
import { notice } from '../portal/notices.ts';

interface Earlier {
  readonly version: number;
  readonly state: string;
  readonly context: object;
  /** Rows that the way to today's version has to put, by view and key. */
  readonly puts: readonly (readonly [view: string, ...key: Row['key']])[];
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

/** What earlier versions stored. Whoever makes a version of a machine writes down here what the one before stores. */
const EARLIER: { readonly [kind: string]: readonly Earlier[] } = {
  mail: MAIL_STATES.map((state) => ({
    version: 1,
    state,
    context: mail,
    puts: [['mails-by', state, 5, 'id']] as const,
  })),
  'webhook-set': [
    { version: 1, state: 'Kept', context: webhooks, puts: [] },
    { version: 1, state: 'Kept', context: { webhooks: [webhook({})] }, puts: [] },
    { version: 1, state: 'Kept', context: { webhooks: [webhook({ configured: false })] }, puts: [] },
    {
      version: 1,
      state: 'Kept',
      context: { webhooks: [webhook({ configured: true })] },
      puts: [['webhooks-configured', 'id']],
    },
  ],
};

test('a kind of actor has a new version only with something stored by each earlier one to try it on', (t) => {
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

test('what earlier versions stored becomes what today’s would have stored', (t) => {
  for (const definition of portalDefinitions) {
    for (const { version, state, context, puts } of EARLIER[definition.kind] ?? []) {
      const stored: StoredActor = {
        address: { kind: definition.kind, id: 'id' },
        revision: 7,
        version,
        state,
        context: context as Json,
        timers: { again: 9 },
        consumed: ['m'],
        journalLength: 3,
        stopped: null,
      };
      const step = migrationStep(definition, stored);
      t.deepEqual(step.actor, { ...stored, revision: 8, version: definition.version });
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
