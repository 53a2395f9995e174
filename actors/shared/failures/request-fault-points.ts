/** Fault points between a request and its stored response. Inactive unless armed. */
import { declareFaultPoints } from '@sealwright/runtime/core';

export const PORTAL_REQUEST_FAULTS = declareFaultPoints({
  'portal.request.done': 'What a request asks for is done and durable; its answer is not stored.',
});
