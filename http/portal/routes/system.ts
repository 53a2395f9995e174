/** `/api/health`, an additional route. */
import { z } from 'zod';
import { healthy } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';

export function systemRoutes(runId: string | undefined): readonly AnyRoute[] {
  const answer = healthy(runId);
  return [
    portalRoute({
      method: 'GET',
      path: '/api/health',
      group: 'System',
      summary: 'Reports that the process is running.',
      description:
        'For process supervisors and load balancers: it does not report whether work can be done. Needs no key.',
      auth: 'anonymous',
      exemptFromLoadShedding: true,
      exemptFromEntryRules: true,
      answerHeaders: ['X-Run-Id'],
      responses: { 200: z.strictObject({ status: z.literal('Healthy').describe('Current state.') }) },
      refusals: [],
      handle: () => answer,
    }),
  ];
}
