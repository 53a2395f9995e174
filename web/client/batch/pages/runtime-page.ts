/** `/runtime`: threads, pool, store, memory and nodes. */
import type { Runtime } from '../../../../clients/typescript/batch.d.ts';
import { createElement, requireElement } from '../../dom.ts';
import { confirmDialog, getShared, post, runAction } from '../api.ts';
import { startPage } from '../live-page.ts';
import { card, emptyRow, refill, row, timeElement } from '../state-labels.ts';
import { duration } from '../times.ts';

const MEGABYTE = 1_000_000;

let refreshAgain = () => {};

/** @param refresh called after an action */
function startRuntimePage(refresh: () => void): void {
  refreshAgain = refresh;
}

async function refreshRuntimePage(): Promise<void> {
  const { nodes, eventLoopDelay, effectsInFlight, shards, pool, store, memory, ...process } =
    await getShared<Runtime>('/api/runtime');
  refill(
    requireElement('#figures'),
    card('Pool threads busy', `${pool.busy} of ${pool.threads}`),
    card('Pool tasks waiting', String(pool.waiting)),
    card('Pool used since start', `${Math.round(pool.utilisation * 100)} %`),
    card('Effects in progress', String(effectsInFlight)),
    card('Main thread busy', percent(process.eventLoopUtilisation)),
    card('Event loop delay p99', milliseconds(eventLoopDelay.p99Ms)),
    card('Memory', `${megabytes(memory.residentBytes)}, heap ${megabytes(memory.heapBytes)}`),
    card('Store', store.bytes === null ? store.engine : `${store.engine}, ${megabytes(store.bytes)}`),
    card('Running for', duration(process.uptimeSeconds)),
  );
  refill(requireElement('#shards'), ...shards.map(shardRow));
  requireElement('#nodes-section').hidden = nodes.length === 0;
  refill(requireElement('#nodes'), ...nodes.map(nodeRow));
  const stalled = pool.stalled.map(({ task, subject, state, runningMs, deadlineMs }) =>
    row(task, subject, state, duration(runningMs / 1000), duration(deadlineMs / 1000)),
  );
  refill(
    requireElement('#stalled'),
    ...(stalled.length > 0 ? stalled : [emptyRow(5, 'No task takes longer than it should.')]),
  );
}

/** A node that was silent for longer than its leases last is lost; the others take over its work. */
function nodeRow(node: Runtime['nodes'][number]): HTMLElement {
  const { name, version, isThis, startedAt, silentMs, leaseMs, draining, leases } = node;
  const heard = `${duration(silentMs / 1000)} ago`;
  return row(
    isThis ? `${name} (this one)` : name,
    version,
    timeElement(startedAt),
    silentMs > leaseMs ? createElement('span', { class: 'trouble' }, `${heard}: lost`) : heard,
    leases.join(', '),
    String(node.effectsInFlight),
    milliseconds(node.lagMs),
    milliseconds(node.storeMs),
    draining ? 'drains' : drainButton(name),
  );
}

function drainButton(name: string): HTMLElement {
  const button = createElement(
    'button',
    { type: 'button', id: `drain-${name}`, 'aria-label': `Drain ${name}` },
    'Drain',
  );
  const drain = async () => {
    const question = `Let ${name} finish its work and end? The other nodes go on.`;
    if (!(await confirmDialog(question, `Drain ${name}`))) return;
    const path = `/api/runtime/nodes/${encodeURIComponent(name)}/drain`;
    await runAction(
      button,
      () => post(path),
      () => `${name} finishes its work and ends.`,
    );
    refreshAgain();
  };
  button.addEventListener('click', () => void drain());
  return button;
}

function shardRow(shard: Runtime['shards'][number]): HTMLElement {
  const { thread, utilisation, awakeActors, deepestMailbox, commit, eventLoopDelay } = shard;
  const { losses, lastLoss } = shard;
  const lost =
    lastLoss === null
      ? String(losses)
      : createElement('span', { class: 'trouble' }, `${losses}: ${lastLoss.why} `, timeElement(lastLoss.at));
  return row(
    thread === null ? `${shard.shard}: being replaced` : `${shard.shard}: ${thread}`,
    percent(utilisation),
    String(awakeActors),
    String(deepestMailbox),
    `${milliseconds(commit.p50Ms)} / ${milliseconds(commit.p99Ms)}`,
    milliseconds(eventLoopDelay.p99Ms),
    lost,
  );
}

const milliseconds = (value: number) => `${value.toFixed(1)} ms`;
const percent = (share: number) => `${Math.round(share * 100)} %`;
const megabytes = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`;

startPage(refreshRuntimePage, startRuntimePage);
