/** The nodes on one PostgreSQL store, on the page `/runtime`. */
import ava from 'ava';
import { startServer } from '../postgres/cluster.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, logIn, visit } from './browser.ts';

const test = withTools(ava, 'postgres', 'chromium');

test.after.always(() => closeBrowser());

test.serial('an operator sees the nodes of a store and drains one after a confirmation', async (t) => {
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const service = await Service.startOne(t, {
    root: await temporaryRoot(t),
    settings: {
      'Runtime:Store': 'postgres',
      'Runtime:Postgres:Url': cluster.url,
      'Runtime:NodeName': 'node-1',
      'Runtime:Shards': 1,
      'Dashboard:PollIntervalSeconds': 1,
    },
    env: { SEALWRIGHT_NODES_PREVIEW: '1' },
  });
  const visited = await visit(t, service.url, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  const { page } = visited;
  await logIn(page, service.url, await service.key());
  await page.goto(`${service.url}/runtime`);
  const row = page.getByRole('row', { name: 'node-1 (this one)' });
  await row.waitFor();
  await assertAccessible(t, page, 'nodes');
  await row.getByRole('button', { name: 'Drain node-1' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Back' }).press('Enter');
  t.is((await fetch(`${service.url}/api/health`)).status, 200);
  await row.getByRole('button', { name: 'Drain node-1' }).click();
  await assertAccessible(t, page, 'the question');
  await page.getByRole('dialog').getByRole('button', { name: 'Drain node-1' }).press('Enter');
  t.is(await service.ended, 0);
});
