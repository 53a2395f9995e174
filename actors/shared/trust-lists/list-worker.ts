/** Refreshes trusted lists on a thread of its own, which ends: reading a long list takes a second. */
import { parentPort, workerData } from 'node:worker_threads';
import { describeFailure, systemClock } from '@sealwright/runtime/core';
import { folderSource, networkSource, refreshLists } from '@sealwright/signatures';
import { createAuthorityTransport } from '../signing/authority-transport.ts';
import type { ListThreadData, RefreshOutcome } from './list-options.ts';

async function refresh({ options, at }: ListThreadData): Promise<RefreshOutcome> {
  const { place, source, network } = options;
  const problems: string[] = [];
  const transport = network && createAuthorityTransport({ clock: systemClock, ...network });
  const sources = [
    ...(source === undefined ? [] : [folderSource(source)]),
    ...(network && transport
      ? [networkSource(transport, { location: place.anchor.location, timeoutMs: network.timeoutMs })]
      : []),
  ];
  try {
    return { kept: await refreshLists({ place, sources, at }, problems), problems };
  } catch (error) {
    return { kept: undefined, problems: [...problems, describeFailure(error).message] };
  } finally {
    transport?.close();
  }
}

void refresh(workerData as ListThreadData).then((outcome) => parentPort?.postMessage(outcome));
