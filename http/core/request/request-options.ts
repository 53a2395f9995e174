/** The parts of a server that its requests share. */

import type { Clock, Log } from '@sealwright/runtime';
import type { FindCaller } from '../access/caller.ts';
import type { RateLimiter } from '../access/rate-limit.ts';
import type { BlockPool } from '../body/block-pool.ts';
import type { Conventions } from '../conventions.ts';
import type { LoadGuard } from '../load-guard.ts';
import type { OtherNodes } from '../other-nodes.ts';
import type { PlainRequests } from '../plain-requests.ts';
import type { Problem } from '../problem.ts';
import type { RequestIds } from '../request-ids.ts';
import type { RatePolicy, Router } from '../router.ts';
import type { AccessCheck } from './access-check.ts';
import type { RequestObserver } from './request-outcome.ts';

/** Dependencies of all requests of a server. */
export interface RequestContextOptions {
  readonly router: Router;
  readonly conventions: Conventions;
  readonly accessCheck: AccessCheck;
  readonly findCaller: FindCaller;
  /** Value of `WWW-Authenticate` on every 401. */
  readonly challenge: string;
  /** Undefined where rate limiting is switched off. */
  readonly limiters: { readonly [policy in RatePolicy]?: RateLimiter } | undefined;
  readonly requestIds: RequestIds;
  readonly pool: BlockPool;
  readonly spoolFolder: string;
  readonly clock: Pick<Clock, 'elapsed' | 'after'>;
  readonly log: Log;
  readonly production: boolean;
  readonly observe: RequestObserver | undefined;
  readonly plain: PlainRequests;
  readonly load: LoadGuard;
  /** Other nodes of the service: a request sees what they had answered before it came. @default none */
  readonly nodes?: OtherNodes | undefined;
  /** Reply to requests above the load limit; made once. */
  readonly overloadProblem: Problem;
}

/**
 * Number of requests in progress; `Dispatcher.drain` waits until there are none. Not a set of them: the tables that a set
 * leaves behind as it changes keep what was in them from the collector of the young generation.
 */
export interface Traffic {
  requestStarted(): void;
  requestEnded(): void;
}
