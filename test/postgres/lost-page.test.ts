/** A person signs while the node that served the page ends: the page goes on with the other nodes. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { partsOf, type Relay, startRelay } from '../actors/portal/mails/relay.ts';
import { SAMPLE } from '../actors/portal/service.ts';
import { closeBrowser, openSigning, visit } from '../browser/browser.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { startBalancer } from './balancer.ts';
import { type Cluster, startServer } from './cluster.ts';

const SECRET = 'ab'.repeat(32);
const ANA = { name: 'Ana Souza', email: 'ana@example.test' };

interface ClusterFixture {
  readonly cluster: Cluster;
}

const test = withTools(anyTest as TestFn<ClusterFixture>, 'postgres', 'chromium');

test.before(async (t) => {
  t.context = { cluster: await startServer() };
});
test.after.always(async (t) => {
  await closeBrowser();
  await t.context.cluster?.remove();
});

interface Shown {
  readonly status: string;
  readonly flowActions: readonly { readonly status: string }[];
}

/** Three nodes behind a balancer that sends all connections to the first one as long as it is there. */
class Portal {
  readonly url: string;
  readonly nodes: readonly [Service, Service, Service];
  readonly #relay: Relay;

  constructor(url: string, nodes: readonly [Service, Service, Service], relay: Relay) {
    this.url = url;
    this.nodes = nodes;
    this.#relay = relay;
  }

  /** @param faults of the first node */
  static async start(t: ExecutionContext, cluster: Cluster, schema: string, faults = ''): Promise<Portal> {
    const root = await temporaryRoot(t);
    const relay = await startRelay(t);
    const start = (name: string, armed: string) =>
      Service.startOne(t, {
        root,
        faults: armed,
        settings: {
          'Runtime:Store': 'postgres',
          'Runtime:Postgres:Url': cluster.url,
          'Runtime:Postgres:Schema': schema,
          'Runtime:Postgres:PoolSize': 4,
          'Runtime:LeaseSeconds': 3,
          'Runtime:NodeName': name,
          'Runtime:Shards': 1,
          'Portal:Enabled': true,
          'Portal:Bootstrap:Organization': 'Acme',
          'Portal:Bootstrap:Application': 'App',
          'Portal:Bootstrap:Secret': SECRET,
          'Portal:Smtp:Host': '127.0.0.1',
          'Portal:Smtp:Port': relay.port,
          'Portal:Smtp:From': 'portal@example.test',
        },
      });
    const nodes = [
      await start('node-1', faults),
      await start('node-2', ''),
      await start('node-3', ''),
    ] as const;
    const [first, ...others] = nodes.map(({ portalUrl }) => Number(new URL(portalUrl).port));
    let isFirstThere = true;
    void nodes[0].gone.then(() => {
      isFirstThere = false;
    });
    const balancer = await startBalancer(() => (isFirstThere ? [first ?? 0] : others));
    t.teardown(() => balancer.close());
    return new Portal(`http://127.0.0.1:${balancer.port}`, nodes, relay);
  }

  async call<Answer>(path: string, body?: object): Promise<Answer> {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${this.nodes[1].portalUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'X-Api-Key': `App|${SECRET}`,
        ...(!isForm && body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  }

  /** A document that Ana signs; the link goes through the balancer. */
  async document(): Promise<{ readonly id: string; readonly link: string }> {
    const form = new FormData();
    form.set('content', new Blob([new Uint8Array(SAMPLE.content)], { type: SAMPLE.type }), SAMPLE.name);
    const upload = await this.call<object>('/api/uploads', form);
    const [made] = await this.call<{ documentId: string }[]>('/api/documents', {
      files: [{ ...upload, displayName: 'Rental agreement' }],
      flowActions: [{ type: 'Signer', user: ANA, allowElectronicSignature: true }],
    });
    const id = made?.documentId ?? '';
    const { url } = await this.call<{ url: string }>(`/api/documents/${id}/action-url`, {
      emailAddress: ANA.email,
    });
    const { pathname, search } = new URL(url);
    return { id, link: `${this.url}${pathname}${search}` };
  }

  concluded(id: string): Promise<Shown> {
    return this.nodes[1].until(`document ${id} to be concluded`, async () => {
      const shown = await this.call<Shown>(`/api/documents/${id}`);
      return shown.status === 'Concluded' ? shown : undefined;
    });
  }

  /** Ids of the mails to Ana whose text fits. */
  mailsToAna(fits: RegExp): ReadonlySet<string> {
    const found = this.#relay.taken.filter(
      ({ to, raw }) => to.includes(ANA.email) && fits.test(partsOf(raw).get('text/plain') ?? ''),
    );
    return new Set(found.map(({ raw }) => /^Message-ID: *(\S+)/im.exec(raw)?.[1] ?? ''));
  }
}

test.serial('a page whose node ends signs at another node', async (t) => {
  t.timeout(240_000);
  const { cluster } = t.context;
  const portal = await Portal.start(t, cluster, 'lost_page');
  const visited = await visit(t, portal.url, { locale: 'en-US' });
  const { page } = visited;
  const { id, link } = await portal.document();
  await page.goto(link);
  await page.locator('.page[data-drawn]').first().waitFor();
  await portal.nodes[0].kill();
  await openSigning(page);
  await page.getByRole('button', { name: 'Sign the document' }).click();
  await page.getByText('You signed the document.').waitFor();
  const { flowActions } = await portal.concluded(id);
  t.deepEqual(
    flowActions.map(({ status }) => status),
    ['Completed'],
  );
  await page.reload();
  await page.getByRole('heading', { name: 'You signed it. Thank you.', exact: true }).waitFor();
});

test.serial(
  'a node that ends with the signature accepted and not answered leaves one signature',
  async (t) => {
    t.timeout(240_000);
    const { cluster } = t.context;
    const portal = await Portal.start(t, cluster, 'lost_answer', 'portal.sign.accepted=kill');
    const visited = await visit(t, portal.url, { locale: 'en-US' });
    const { page } = visited;
    const { id, link } = await portal.document();
    await page.goto(link);
    await page.locator('.page[data-drawn]').first().waitFor();
    await openSigning(page);
    await page.getByRole('button', { name: 'Sign the document' }).click();
    t.is(await portal.nodes[0].ended, 'SIGKILL');
    const { flowActions } = await portal.concluded(id);
    t.deepEqual(
      flowActions.map(({ status }) => status),
      ['Completed'],
    );
    await page.reload();
    await page.getByRole('heading', { name: 'You signed it. Thank you.', exact: true }).waitFor();
    await portal.nodes[1].until('the news of the conclusion', async () =>
      portal.mailsToAna(/./).size >= 2 ? true : undefined,
    );
    t.is(portal.mailsToAna(/./).size, 2, 'the request and the conclusion, each under one Message-ID');
  },
);
