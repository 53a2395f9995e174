/** Bulk actions, profiles and statistics in memory: they record arguments and return configured results. */

import { randomUUID } from 'node:crypto';
import type { BulkJobs, BulkQuery, BulkReport } from '../../../actors/batch/api/bulk.ts';
import type { EndedSeries, Statistics } from '../../../actors/batch/api/inspection.ts';
import type { ProfileList } from '../../../actors/batch/api/service.ts';
import type { ProfileView, StageStatistics, StatisticsView } from '../../../contracts/batch/statistics.ts';
import type { JobId, ProfileName } from '../../../machines/ids.ts';

export class MemoryBulk implements BulkJobs {
  readonly asked: { readonly action: string; readonly query: BulkQuery; readonly reason: string | null }[] =
    [];
  report: BulkReport = {
    matched: 3,
    done: 1,
    skipped: 1,
    items: [
      { jobId: randomUUID() as JobId, newJobId: randomUUID() as JobId, code: null },
      { jobId: randomUUID() as JobId, newJobId: null, code: 'job.input-missing' },
    ],
  };

  async retryMany(query: BulkQuery): Promise<BulkReport> {
    this.asked.push({ action: 'retry', query, reason: null });
    return this.report;
  }

  async cancelMany(query: BulkQuery, reason: string | null): Promise<BulkReport> {
    this.asked.push({ action: 'cancel', query, reason });
    return { ...this.report, items: this.report.items.map((item) => ({ ...item, newJobId: null })) };
  }

  async clear() {
    return { deleted: 4, skipped: 2 };
  }
}

export class MemoryProfiles implements ProfileList {
  profiles: ProfileView[] = [
    {
      name: 'default' as ProfileName,
      format: null,
      method: 'Local',
      verify: true,
      encrypt: false,
      validateCertificate: true,
      certificate: { source: 'Pfx', subject: 'CN=Signer', thumbprint: 'AB12', notAfter: 1_900_000_000_000 },
      default: true,
    },
    {
      name: 'contracts' as ProfileName,
      format: 'Pades',
      method: 'RemoteSigner',
      verify: false,
      encrypt: true,
      validateCertificate: false,
      certificate: null,
      default: false,
    },
  ];

  list(): readonly ProfileView[] {
    return this.profiles;
  }
}

export class MemoryStatistics implements Statistics {
  readonly windows: number[] = [];

  async series(window: number, intervals: number): Promise<EndedSeries> {
    const counts = Array.from({ length: intervals }, (_, at) => at);
    return {
      since: 0,
      intervalSeconds: window / intervals / 1000,
      completed: counts,
      failed: counts,
      canceled: counts,
      queueWaitMs: counts.map((count) => (count === 0 ? null : count)),
      signMs: counts.map((count) => (count === 0 ? null : count)),
    };
  }

  async over(window: number): Promise<StatisticsView> {
    this.windows.push(window);
    const figures: StageStatistics = { count: 2, avgMs: 1.5, p50Ms: 1, p95Ms: 2, maxMs: 2 };
    const none: StageStatistics = { count: 0, avgMs: null, p50Ms: null, p95Ms: null, maxMs: null };
    return {
      since: 1_000_000,
      completed: 2,
      failed: 1,
      canceled: 0,
      perStage: { queueWait: figures, sign: figures, verify: figures, output: none },
      encrypted: 1,
      perMethod: { Local: 2, RemoteSigner: 0 },
      throughputPerMinute: 2,
      lifetimePerMinute: 0.5,
    };
  }
}
