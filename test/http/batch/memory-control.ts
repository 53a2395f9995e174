/** Pipeline, folders and events in memory, with every reply of those ports. */

import { randomUUID } from 'node:crypto';
import type { FolderControl, PipelineControl, SystemEvents } from '../../../actors/batch/api/service.ts';
import type { SystemEvent } from '../../../contracts/batch/events.ts';
import type { FolderView, RescanReport } from '../../../contracts/batch/folders.ts';
import type { PipelineView } from '../../../contracts/batch/pipeline.ts';
import type { FolderName, ProfileName } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';

export class MemoryPipeline implements PipelineControl {
  async oldestQueuedAt(): Promise<number | null> {
    return null;
  }

  readonly events: SystemEvent[];
  view: PipelineView = {
    paused: false,
    pausedAtUtc: null,
    resumedAtUtc: null,
    pausedBy: 'system',
    reason: null,
    held: null,
    maxConcurrency: 4,
    jobsInFlight: 3,
    jobsInFlightByFormat: { pades: 2, cades: 1, xades: 0, total: 3 },
  };

  constructor(events: SystemEvent[]) {
    this.events = events;
  }

  async state(): Promise<PipelineView> {
    return this.view;
  }

  async pause(reason: string | null): Promise<PipelineView> {
    if (this.view.paused) return this.view;
    this.#record('PipelinePaused', reason);
    this.view = {
      ...this.view,
      paused: true,
      pausedAtUtc: 1_000,
      resumedAtUtc: null,
      pausedBy: 'operator',
      reason,
    };
    return this.view;
  }

  async resume(reason: string | null): Promise<PipelineView> {
    if (!this.view.paused) return this.view;
    this.#record('PipelineResumed', reason);
    this.view = { ...this.view, paused: false, resumedAtUtc: 2_000, reason };
    return this.view;
  }

  #record(kind: SystemEvent['kind'], reason: string | null): void {
    const message = reason ?? 'no reason';
    this.events.unshift({
      id: randomUUID(),
      timestamp: 1_000,
      kind,
      actor: 'operator',
      jobId: null,
      code: null,
      message,
    });
  }
}

export class MemoryFolders implements FolderControl {
  folders: FolderView[] = [
    {
      name: 'default' as FolderName,
      path: '/in',
      exists: true,
      status: 'Running',
      lastEnqueueAt: 5_000,
      lastError: null,
      processedCount: 3,
      fileCount: 50,
      fileCountCapped: true,
      profile: 'default' as ProfileName,
    },
  ];

  async list(): Promise<readonly FolderView[]> {
    return this.folders;
  }

  async rescan(name: string | undefined): Promise<RescanReport> {
    const chosen = this.folders.filter((folder) => name === undefined || folder.name === name);
    if (chosen.length === 0) throw new Refusal('folder.not-found', 'Configured: default.');
    const counts = { scanned: 4, enqueued: 1, alreadyActive: 1, ignored: 1, errors: 1 };
    return {
      folders: chosen.map((folder) => ({
        name: folder.name,
        path: folder.path,
        ...counts,
        enqueuedFiles: ['a.pdf'],
      })),
      totals: { folders: chosen.length, ...counts },
    };
  }
}

export function memoryEvents(events: SystemEvent[]): SystemEvents {
  return {
    async recordSession(kind, actor, address) {
      const message = `${kind} ${address}`;
      events.push({ ...{ kind, actor, message }, id: randomUUID(), timestamp: 0, jobId: null, code: null });
    },
    async list({ kinds, page, pageSize }) {
      const matching = events.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind));
      return {
        items: matching.slice((page - 1) * pageSize, page * pageSize),
        totalCount: matching.length,
      };
    },
  };
}
