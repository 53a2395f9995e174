/** Bulk operations in memory: they record their arguments and do nothing. */
import { randomUUID } from 'node:crypto';
import type { OperationRequest, Operations, OperationView } from '../../../actors/batch/api/bulk.ts';
import { Refusal } from '../../../machines/refusals.ts';

export class MemoryOperations implements Operations {
  readonly made: OperationView[] = [];
  readonly asked: OperationRequest[] = [];

  async count(request: OperationRequest): Promise<number> {
    this.asked.push(request);
    return 7;
  }

  async start(request: OperationRequest): Promise<OperationView> {
    this.asked.push(request);
    const at = 1_800_000_000_000;
    const operation: OperationView = {
      id: randomUUID(),
      state: 'Running',
      action: request.action,
      reason: request.reason,
      filter: { createdTo: at, ...request.filter },
      matched: 7,
      done: 2,
      skipped: 1,
      skippedByCode: { 'job.race-lost': 1 },
      createdAt: at,
      updatedAt: at,
      endedAt: null,
    };
    this.made.unshift(operation);
    return operation;
  }

  async get(id: string): Promise<OperationView> {
    const found = this.made.find((operation) => operation.id === id);
    if (found === undefined) throw new Refusal('operation.not-found', id);
    return found;
  }

  async list(page: number, pageSize: number) {
    const items = this.made.slice((page - 1) * pageSize, page * pageSize);
    return { items, totalCount: this.made.length };
  }

  async cancel(id: string): Promise<OperationView> {
    return { ...(await this.get(id)), state: 'Canceling' };
  }
}
