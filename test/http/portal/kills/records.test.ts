/** Creations of drafts, templates and saved flows under an idempotency key, when the process is killed before its reply. */
import test from 'ava';
import { type Client, startProgram } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';
import { temporaryRoot } from '../../../service/service.ts';

const TENANT = { title: 'Tenant', step: 1, allowElectronicSignature: true };
const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };
const KEY = { 'idempotency-key': 'once' };

interface Kind {
  readonly list: string;
  readonly create: string;
  /** Kind of the actor whose first step is killed; absent: another operation has the same step. */
  readonly actor?: string;
  body(client: Client, name: string): Promise<object>;
}

async function documentOf(client: Client): Promise<object> {
  const { id, name, contentType } = await client.upload();
  return { files: [{ id, displayName: 'Lease', name, contentType }], flowActions: [TENANT] };
}

const KINDS: readonly Kind[] = [
  {
    list: '/api/document-drafts',
    create: '/api/document-drafts',
    actor: 'draft',
    body: async (client, name) => ({ name, document: await documentOf(client) }),
  },
  {
    list: '/api/templates',
    create: '/api/templates',
    actor: 'template',
    body: async (client, name) => ({ name, document: await documentOf(client) }),
  },
  {
    list: '/api/templates',
    create: '/api/templates/from-document',
    body: async (client, name) => ({ name, documentId: await client.create([ANA]) }),
  },
  {
    list: '/api/document-flows',
    create: '/api/document-flows',
    actor: 'saved-flow',
    body: async (_, name) => ({ name, areActionsOrdered: true, flowActions: [TENANT] }),
  },
];

/** All kinds store their request in the same way: one of them at each point, one that is made of something else, and a release the others. */
function pointsOf({ actor }: Kind): readonly (readonly [string, number])[] {
  const answer = ['portal.request.done=kill:1', 1] as const;
  if (actor === undefined) return casesOf([answer], []);
  const steps = [
    [`step.computed.before-commit/${actor}=kill:1`, 0],
    [`step.committed.before-reply/${actor}=kill:1`, 1],
  ] as const;
  return actor === 'draft' ? casesOf(steps, [answer]) : casesOf([], [...steps, answer]);
}

for (const kind of KINDS)
  for (const [point, kept] of pointsOf(kind)) {
    const { list, create, body } = kind;
    test.serial(
      `a kill at ${point} of POST ${create} leaves ${kept}, and repeated calls make one and return it`,
      async (t) => {
        const root = await temporaryRoot(t);
        const first = await startProgram(t, { root, faults: point });
        const sent = await body(first.acme, 'First');
        await t.throwsAsync(first.acme.send(create, sent, 'POST', KEY));
        t.is(await first.service.ended, 'SIGKILL');

        const { acme } = await startProgram(t, { root });
        const ids = async () => (await acme.get<{ items: { id: string }[] }>(list)).items.map(({ id }) => id);
        t.is((await ids()).length, kept);
        const answers: { readonly id: string }[] = [];
        for (let count = 0; count < 2; count += 1) {
          const answer = await acme.send(create, sent, 'POST', KEY);
          t.is(answer.status, 200);
          answers.push((await answer.json()) as { id: string });
        }
        t.deepEqual(answers[0], answers[1]);
        t.deepEqual(await ids(), [answers[0]?.id]);
        const other = await acme.send(create, { ...sent, name: 'Second' }, 'POST', KEY);
        t.is(other.status, 409);
        t.like(await other.json(), { code: 'IdempotencyConflict' });
        // Without a key each call makes one.
        t.is((await acme.send(create, sent)).status, 200);
        t.is((await ids()).length, 2);
      },
    );
  }
