/** Party that looks at an actor of the portal finds what it made, and from there the way back. */
import test from 'ava';
import { reached } from '../../../project/waiting.ts';
import { ORIGIN, portalFixture, signer } from './flow-harness.ts';

test.serial(
  'a document is linked to its mails, codes and webhook deliveries, and each of them to the document',
  async (t) => {
    const fixture = await portalFixture(t);
    const { webhooks, signing } = fixture.portal;
    const { inspector } = fixture.runtime;
    await webhooks.create(fixture.tenant, { url: 'http://127.0.0.1:9/hook', authType: 'NoAuth' });
    const id = await fixture.create([signer('Ana')]);
    const access = await fixture.ticket(id, 'ana@example.org', true);
    const child = async (kind: string) => {
      const found = async () =>
        (await inspector.actor({ kind: 'document', id }))?.children.find((one) => one.kind === kind);
      await reached(found);
      return (await found()) ?? { kind, id };
    };
    const leadsBack = async (kind: string) =>
      t.deepEqual((await inspector.actor(await child(kind)))?.parent, { kind: 'document', id }, kind);
    await signing.sendCode(access, 'Email', false);
    await leadsBack('flow-action');
    await leadsBack('mail');
    await signing.refuse(access, 'No.', ORIGIN);
    await leadsBack('webhook-lane');
    const organization = { kind: 'organization', id: fixture.tenant.organization.id };
    const [set] = (await inspector.actor(organization))?.children ?? [];
    t.is(set?.kind, 'webhook-set');
    t.deepEqual(set && (await inspector.actor(set))?.parent, organization);
  },
);
