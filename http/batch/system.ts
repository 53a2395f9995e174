/**
 * `/api/health`, `/api/ready` and `/api/whoami`.
 *
 * Source: docs/batch-values.md §0, §3.
 */
import type { Clock } from '@sealwright/runtime';
import type { Batch } from '../../actors/index.ts';
import {
  readHealth,
  readIdentity,
  readiness as readinessSchema,
  readReadiness,
} from '../../contracts/batch/system.ts';
import { encoderOf } from '../../contracts/encoder.ts';
import type { Value } from '../../contracts/operation.ts';
import type { OperatorCheck } from '../core/access/operator-check.ts';
import { healthy, type JsonReply, json } from '../core/reply.ts';
import type { AnyRoute } from '../core/router.ts';
import { handle } from './handle.ts';

const encodeReadiness = encoderOf(readinessSchema);

/** Answer of `GET /api/ready`. @param isOperator false leaves out paths, names of certificates and reasons */
export async function readiness(
  health: Batch['health'],
  clock: Pick<Clock, 'now'>,
  isOperator: boolean,
): Promise<JsonReply> {
  const checks = await health.checks();
  const isReady = checks.every(({ status }) => status !== 'Unhealthy');
  const found: Value<typeof readinessSchema> = {
    status: isReady ? 'Ready' : 'NotReady',
    checkedAtUtc: clock.now(),
    checks: checks.map(({ name, status, detail, publicDetail = null }) => ({
      name,
      status,
      detail: isOperator ? detail : publicDetail,
    })),
  };
  return json(isReady ? 200 : 503, encodeReadiness(found));
}

/** @param isOperator true when a request has the key or a session; it reads the headers `credentialHeaders` */
export function systemRoutes(
  health: Batch['health'],
  clock: Pick<Clock, 'now'>,
  { isOperator, credentialHeaders }: OperatorCheck,
  runId: string | undefined,
): readonly AnyRoute[] {
  const answer = healthy(runId);
  return [
    handle(readHealth, () => answer),
    handle(readIdentity, ({ identity }) => ({
      operator: identity?.operator ?? '',
      scheme: identity?.scheme ?? 'ApiKey',
      ...(identity?.role && { role: identity.role }),
      ...(identity?.scopes && { scopes: identity.scopes }),
      ...(identity?.profiles && { profiles: identity.profiles }),
      ...(identity?.folders && { folders: identity.folders }),
      ...(identity?.expiresAt !== undefined && { expiresAt: identity.expiresAt }),
    })),
    handle({ ...readReadiness, headers: credentialHeaders }, ({ header, caller }) =>
      readiness(health, clock, isOperator(header, caller)),
    ),
  ];
}
