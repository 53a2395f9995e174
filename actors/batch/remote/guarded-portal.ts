/** Guards the remote portal with a circuit breaker: refuses calls while the circuit is open. */
import type { CircuitBreaker } from './circuit-breaker.ts';
import { CircuitOpen, RemoteFailure, type RemoteOperation, type RemotePortal } from './ports.ts';

/** Id of no document: a query for it has no side effects, and any answer shows that the portal works. */
const NO_DOCUMENT = '00000000-0000-0000-0000-000000000000';

/** Called for each failed call; not for calls refused by the circuit breaker. */
export type FailureObserver = (operation: RemoteOperation) => void;

/**
 * Counts only transient failures: any other answer, also a refusal, shows that the portal works. Errors other than
 * `RemoteFailure`, such as a full disk, are local.
 */
export function guardPortal(
  portal: RemotePortal,
  breaker: CircuitBreaker,
  onFailure: FailureObserver,
): RemotePortal {
  const call = async <T>(operation: RemoteOperation, make: () => Promise<T>): Promise<T> => {
    const { open } = breaker;
    if (open !== undefined) throw new CircuitOpen(operation, open.reason);
    return observed(make, breaker, onFailure);
  };
  return {
    upload: (file, document) => call('upload', () => portal.upload(file, document)),
    create: (uploadId, document) => call('create', () => portal.create(uploadId, document)),
    status: (documentId) => call('poll', () => portal.status(documentId)),
    download: (documentId, target) => call('download', () => portal.download(documentId, target)),
    cancel: (documentId, reason) => call('cancel', () => portal.cancel(documentId, reason)),
  };
}

/** Probes the portal without the circuit breaker. */
export async function probePortal(
  portal: RemotePortal,
  breaker: CircuitBreaker,
  onFailure: FailureObserver,
): Promise<void> {
  await observed(() => portal.status(NO_DOCUMENT), breaker, onFailure).catch(() => {});
}

async function observed<T>(
  make: () => Promise<T>,
  breaker: CircuitBreaker,
  onFailure: FailureObserver,
): Promise<T> {
  try {
    const result = await make();
    breaker.succeeded();
    return result;
  } catch (error) {
    if (error instanceof RemoteFailure) {
      onFailure(error.operation);
      if (error.transient) breaker.failed(error.message, error.retryAfter);
      else breaker.succeeded();
    }
    throw error;
  }
}
