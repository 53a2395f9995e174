/** The operator pages of actors that fail, are given up, wait, and have relatives, in a browser. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createRuntime, defineActor, Retryable, systemClock, systemIds } from '@sealwright/runtime';
import { note } from '@sealwright/runtime/actions';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import ava, { type ExecutionContext } from 'ava';
import { assign, setup as setupMachine } from 'xstate';
import { InspectionService } from '../../../actors/batch/inspection.ts';
import { SigningPool } from '../../../actors/pool/pool.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { batchFixture } from '../../actors/batch/batch-harness.ts';
import { KEY, startServer } from '../../http/harness.ts';
import { anyEffect, handlersByName } from '../../runtime/any-effect.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, logIn, toast, visit } from '../browser.ts';

const test = withTools(ava, 'chromium');

test.after.always(() => closeBrowser());

const run = promisify(execFile);
const log = { debug() {}, info() {}, warn() {}, error() {} };

type Place = { readonly inside: string | null; readonly combination: string };

/** Doors of a house: a ring fails and is tried again, a jam stops the actor, an open door shuts after a time. */
const door = defineActor('door', {
  version: 1,
  secrets: ['combination'],
  parent: ({ context }) =>
    context.inside === null ? undefined : { kind: 'door', id: String(context.inside) },
  children: async ({ id }) =>
    id === 'front' ? ['stuck', 'given-up'].map((one) => ({ kind: 'door', id: one })) : [],
  machine: setupMachine({
    types: {} as { context: Place; input: Place; events: { type: 'OPEN' | 'SHUT' | 'RING' | 'JAM' } },
    delays: { shuts: 3_600_000 },
    actions: {
      effect: anyEffect,
      note,
    },
  }).createMachine({
    id: 'door',
    context: ({ input }) => input,
    initial: 'Shut',
    states: {
      Shut: {
        on: {
          OPEN: { target: 'Open', actions: { type: 'note', params: { message: 'Opened.' } } },
          RING: { actions: { type: 'effect', params: { do: 'ring' } } },
          JAM: {
            actions: assign(() => {
              throw new Error('The hinge broke.');
            }),
          },
        },
      },
      Open: { on: { SHUT: 'Shut' }, after: { shuts: 'Shut' } },
    },
  }),
});

interface Doors {
  readonly url: string;
  /** Messages of recorded events. */
  readonly events: readonly string[];
}

/** A server over a store with four doors: `front` is open, `old` was opened before it. */
async function startDoors(t: ExecutionContext): Promise<Doors> {
  const { layout } = await batchFixture(t, { start: false, watch: false });
  const store = openLmdbStore({ folder: join(layout.input, 'doors') });
  const runtime = await createRuntime({
    store,
    log,
    actors: [door],
    handlers: handlersByName([], {
      ring: {
        after: 'visible',
        run: async () => {
          throw new Retryable('bell.broken', 'The bell is broken.', 3_600_000);
        },
      },
    }),
    restarts: { restarts: 0 },
    onCommitted: () => inspection.changes.observe(),
  });
  const setup = { ...layout, faults: '', profiles: [], trust: NO_TRUST, encryptionKey: undefined };
  const pool = new SigningPool({ threads: 1, clock: systemClock, log, setup });
  const events: string[] = [];
  const inspection = new InspectionService(
    { actors: runtime, store, clock: systemClock, ids: systemIds },
    runtime,
    pool,
    { record: async ({ message }) => void events.push(message) },
  );
  const { url } = await startServer(t, {}, systemClock, { inspection });
  t.teardown(async () => {
    await runtime.stop();
    await store.close();
    await pool.close();
  });
  const send = (id: string, type: 'OPEN' | 'RING' | 'JAM') => runtime.send(door, id, { type });
  for (const id of ['old', 'front', 'stuck', 'given-up'])
    await runtime.create(door, id, {
      inside: id === 'stuck' || id === 'given-up' ? 'front' : null,
      combination: '1234',
    });
  await send('old', 'OPEN');
  await send('front', 'OPEN');
  await send('stuck', 'RING');
  await send('given-up', 'JAM').catch(() => undefined);
  return { url, events };
}

test.serial('actors are listed by failing work, by supervision that gave up, and oldest first', async (t) => {
  const { url } = await startDoors(t);
  const visited = await visit(t, url);
  const { page } = visited;
  await logIn(page, `${url}/actors`, KEY);
  await page
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: 'door', exact: true }) })
    .getByRole('link', { name: '1', exact: true })
    .click();
  await page.getByText('1 actor on this page').waitFor();
  t.true(await page.getByLabel('given up').isChecked());
  const row = page.locator('#rows tr');
  t.regex((await row.textContent()) ?? '', /^given-up.*given up: The hinge broke\.$/);
  await page.getByLabel('given up').uncheck();
  await page.getByText('4 actors on this page').waitFor();
  await page.getByLabel('failing work').check();
  await page.getByText('1 actor on this page').waitFor();
  t.regex((await row.textContent()) ?? '', /^stuck.*ring failed 1 time: The bell is broken\.$/);
  await assertAccessible(t, page, 'failing work');
  await page.getByLabel('failing work').uncheck();
  await page.getByLabel('State').selectOption('Open');
  await page.getByText('2 actors on this page').waitFor();
  t.deepEqual(await page.locator('#rows td:first-child').allTextContents(), ['front', 'old']);
  await page.getByLabel('Oldest first').check();
  await page.locator('#rows tr', { hasText: 'since' }).first().waitFor();
  t.deepEqual(await page.locator('#rows td:first-child').allTextContents(), ['old', 'front']);
  // The address has the filters.
  await page.reload();
  await page.locator('#rows tr', { hasText: 'since' }).first().waitFor();
  t.true(await page.getByLabel('Oldest first').isChecked());
  t.deepEqual(await page.locator('#rows td:first-child').allTextContents(), ['old', 'front']);
});

test.serial(
  'an actor shows its pending effects and deadlines with the time left, its parent and its children',
  async (t) => {
    const { url } = await startDoors(t);
    const visited = await visit(t, url);
    const { page } = visited;
    await logIn(page, `${url}/actors/door/stuck`, KEY);
    const pending = page.getByRole('region', { name: 'Pending' });
    await pending.getByText(/^ring, next try in \d+ minutes, failed 1 time: The bell is broken\.$/).waitFor();
    await page.getByRole('region', { name: 'Parent and children' }).getByRole('link').click();
    await page.getByRole('heading', { name: 'door front' }).waitFor();
    await page.getByText(/^deadline .* in \d+ minutes$/).waitFor();
    t.deepEqual(await page.locator('#relatives li').allTextContents(), [
      'child door stuck',
      'child door given-up',
    ]);
    await page.getByText('Show', { exact: true }).click();
    t.false(((await page.locator('#context').textContent()) ?? '').includes('1234'), 'secrets are hidden');
    await assertAccessible(t, page, 'relatives');
    await page.getByRole('link', { name: 'door given-up' }).click();
    await page.getByRole('heading', { name: 'door given-up' }).waitFor();
    t.deepEqual(await page.locator('#relatives li').allTextContents(), ['parent door front']);
  },
);

test.serial('the time left until a deadline decreases on the page without a refresh', async (t) => {
  const { url } = await startDoors(t);
  const visited = await visit(t, url);
  const { page } = visited;
  // No change arrives: only the page's own clock goes on.
  await page.route('**/api/changes*', () => {});
  await page.clock.install();
  await logIn(page, `${url}/actors/door/front`, KEY);
  const left = page.locator('#pending time[data-countdown]');
  const minutes = async () => Number(/^in (\d+) minutes$/.exec((await left.textContent()) ?? '')?.[1]);
  await left.filter({ hasText: /^in \d+ minutes$/ }).waitFor();
  const first = await minutes();
  const refreshes = await page.locator('main').getAttribute('data-refreshed');
  await page.clock.fastForward('20:00');
  await left.filter({ hasNotText: `in ${first} minutes` }).waitFor();
  t.true((await minutes()) <= first - 19, `${first} minutes, then ${await minutes()}`);
  t.is(await page.locator('main').getAttribute('data-refreshed'), refreshes);
});

test.serial('the command that is copied prints the actor', async (t) => {
  const { url } = await startDoors(t);
  const visited = await visit(t, url, { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = visited;
  await logIn(page, `${url}/actors/door/front`, KEY);
  await page.getByText(/^deadline .* in \d+ minutes$/).waitFor();
  await page.getByRole('button', { name: 'Copy as curl' }).press('Enter');
  await toast(page, 'ok').filter({ hasText: 'The command is copied.' }).waitFor();
  const command = await page.evaluate<string>('navigator.clipboard.readText()');
  const env = { ...process.env, SEALWRIGHT_KEY: KEY };
  const { stdout } = await run('sh', ['-c', command], { env });
  t.like(JSON.parse(stdout), { kind: 'door', id: 'front', state: 'Open' });
});

test.serial('an actor that was given up goes on after a reason, which is recorded', async (t) => {
  const { url, events } = await startDoors(t);
  const visited = await visit(t, url);
  const { page } = visited;
  await logIn(page, `${url}/actors/door/given-up`, KEY);
  await page.getByText('given up: The hinge broke.').waitFor();
  const restart = page.getByRole('button', { name: 'Let it go on' });
  await restart.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Let this actor go on?' });
  await dialog.waitFor();
  await assertAccessible(t, page, 'reason');
  await dialog.getByRole('button', { name: 'Go on' }).click();
  t.true(await dialog.isVisible(), 'a reason is required');
  t.deepEqual(events, []);
  await dialog.getByLabel('Reason').fill('A new hinge');
  await page.keyboard.press('Enter');
  await toast(page, 'ok').waitFor();
  await restart.waitFor({ state: 'hidden' });
  // The button is hidden by the action, the text by the refresh after it.
  await page.getByText('given up').first().waitFor({ state: 'hidden' });
  t.deepEqual(events, ['The stopped actor door/given-up goes on. Reason: A new hinge.']);
  t.like(await (await fetch(`${url}/api/actors/door/given-up`, { headers: { 'x-api-key': KEY } })).json(), {
    state: 'Shut',
    stopped: null,
  });
});
