/**
 * Tamper-evident history of the service: checkpoints at intervals, published where configured. Source: docs/decisions/0053-tamper-evident-history.md.
 */
import type { KeyObject } from 'node:crypto';
import type { ActorStore, Clock, Ids, Log, Step } from '@sealwright/runtime';
import {
  createCheckpointSigner,
  type HistoryAnchor,
  HistoryPacker,
  HistorySealer,
  type RestingStates,
} from '@sealwright/runtime/history';
import { createTimestampAuthority } from '@sealwright/signatures';
import { createHttpClient } from '@sealwright/signatures/http';
import { createAuthorityTransport } from '../shared/signing/authority-transport.ts';
import { HistoryPublisher } from './history-publisher.ts';

export interface HistoryOptions {
  /** Ed25519 private key of this node. */
  readonly key: KeyObject;
  /** Keeps the newest checkpoint outside of the store. */
  readonly anchor: HistoryAnchor;
  /** `History:CheckpointMinutes`, in milliseconds. */
  readonly every: number;
  readonly webhookUrl?: string | undefined;
  readonly timestampUrl?: string | undefined;
}

export interface History {
  observe(step: Step): void;
  start(): Promise<void>;
  /** True until `start` resolves, here or on another node, where the last service has ended in order. */
  isRecordedAsStopped(): Promise<boolean>;
  /** Covers steps that were not observed; see `HistorySealer.compare`. */
  compare(): void;
  /** Writes and publishes the last checkpoint. */
  stop(): Promise<void>;
}

const TIMEOUT_MS = 10_000;

export function createHistory(
  { key, anchor, every, webhookUrl, timestampUrl }: HistoryOptions,
  {
    store,
    clock,
    ids,
    log,
  }: { readonly store: ActorStore; readonly clock: Clock; readonly ids: Ids; readonly log: Log },
  kinds: readonly string[],
  restsIn: RestingStates,
): History {
  const publishes = webhookUrl !== undefined || timestampUrl !== undefined;
  const packer = new HistoryPacker({ store, clock, log, restsIn });
  const sealer = new HistorySealer({
    store,
    clock,
    log,
    signer: createCheckpointSigner(key),
    anchor,
    every,
    kinds,
    publishes,
    alwaysCompares: store.nodes !== undefined,
    onRound() {
      packer.start();
      if (publishes) void publisher.publish();
    },
  });
  const client = createHttpClient();
  const transport = createAuthorityTransport({ clock, allowPrivate: false, issuerHosts: [] });
  const publisher = new HistoryPublisher({
    store,
    sealer,
    client,
    clock,
    log,
    webhookUrl,
    timestamps:
      timestampUrl === undefined
        ? undefined
        : createTimestampAuthority({
            url: timestampUrl,
            timeoutMs: TIMEOUT_MS,
            transport,
            random: (length) => Buffer.from(ids.bytes(length)),
            now: () => clock.now(),
            wait: (ms) => clock.sleep(ms),
            retries: 0,
          }),
  });
  return {
    observe: (step) => sealer.observe(step),
    async start() {
      await sealer.start();
      packer.start();
    },
    isRecordedAsStopped: () => sealer.isRecordedAsStopped(),
    compare: () => sealer.compare(),
    async stop() {
      packer.stop();
      sealer.beginStop();
      await sealer.seal();
      if (publishes) await publisher.publish();
      await sealer.stop();
      client.close();
      transport.close();
    },
  };
}
