/** The nodes on one PostgreSQL store, on the page `/runtime`. */
import test from 'ava';
import { startCluster } from '../postgres/cluster.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, logIn, visit } from './browser.ts';

test.after.always(() => closeBrowser());

test.serial('an operator sees the nodes of a store and drains one after a confirmation', async (t) => {
  const cluster = await startCluster(t);
  if (cluster === undefined) return;
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
  if (visited === undefined) return;
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
